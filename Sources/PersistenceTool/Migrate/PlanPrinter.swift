import PersistenceDriver
import PersistenceMigration

/// Prints the plan of a migration.
struct PlanPrinter {
  let output: ByteOutput

  func print(_ plan: MigrationPlan, _ obstacles: [String]) throws {
    for model in plan.models { try print(model) }
    try UnmappedObjectPrinter(output: output).print(plan.unmappedObjects)
    let models = plan.models.count
    try output.line(
      "\(plan.records) record\(plan.records == 1 ? "" : "s") of \(models) model\(models == 1 ? "" : "s"), "
        + "\(StoreSize.text(plan.bytes)) of values")
    let estimate = plan.estimate
    let free = estimate.free.map { ", \(StoreSize.text($0)) free" } ?? ""
    try output.line("space    about \(StoreSize.text(estimate.bytes)) needed\(free)")
    if let seconds = estimate.seconds {
      try output.line("time     about \(ProgressDisplay.duration(seconds))")
    }
    try output.line("         (\(estimate.basis))")
    try output.line()
    guard !obstacles.isEmpty else {
      return try output.line("nothing was written; a run would copy everything")
    }
    try output.line("nothing was written; a run would stop:")
    for line in obstacles { try output.line("  \(TerminalText.safe(line))") }
  }

  private func print(_ model: MigrationPlan.Model) throws {
    let name = TerminalText.safe(model.name)
    let target =
      StoredName(model.name) == StoredName(model.destinationName)
      ? "" : " → \(TerminalText.safe(model.destinationName))"
    let size = StoreSize.text(model.bytes)
    try output.line("\(name)\(target): \(model.records) record\(model.records == 1 ? "" : "s"), \(size)")
    var table = TextTable(
      [
        .init(title: "field"), .init(title: "kind"), .init(title: ""), .init(title: "becomes"),
        .init(title: "kind"),
      ], output: output)
    for field in model.fields {
      try table.add([
        field.name, field.kind, field.isKey ? "key" : "", field.destinationName ?? "(dropped)",
        field.destinationKind ?? "",
      ])
    }
    try table.finish()
    for index in model.droppedIndexes {
      try output.line("index dropped: \(TerminalText.safe("\(index)"))")
    }
    for loss in model.losses { try output.line("! \(TerminalText.safe("\(loss)"))") }
    try output.line()
  }
}
