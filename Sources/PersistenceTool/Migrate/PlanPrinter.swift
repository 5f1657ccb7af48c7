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

/// Prints the objects that models do not express.
struct UnmappedObjectPrinter {
  let output: ByteOutput

  func print(_ unmappedObjects: [UnmappedObject]) throws {
    guard !unmappedObjects.isEmpty else { return }
    try output.line("not copied, because models have no counterpart:")
    for object in unmappedObjects {
      let owner = object.model.map { "\($0): " } ?? ""
      let records = object.records.map { " (\($0) record\($0 == 1 ? "" : "s"))" } ?? ""
      let text = "\(owner)\(object.kind.rawValue) “\(object.name)”\(records): \(object.detail)"
      try output.line("  " + TerminalText.safe(text))
    }
    try output.line()
  }
}

/// The reasons why a run would stop.
struct PlanObstacles {
  let lines: [String]

  init(_ plan: MigrationPlan, _ options: MigrationOptions) {
    var lines: [String] = []
    if !options.allowLossy {
      let changed = plan.losses.filter(\.isChange).reduce(0) { $0 + $1.count }
      if changed > 0 { lines.append("\(changed) values would change; --allow-lossy allows it") }
      for object in plan.unmappedObjects where object.losesRecords {
        lines.append("the \(object.kind.rawValue) “\(object.name)” would be omitted; --allow-lossy allows it")
      }
    }
    let refused = plan.losses.filter { !$0.isChange }.reduce(0) { $0 + $1.count }
    if refused > 0 {
      if options.failures == .stop {
        lines.append("\(refused) values cannot be copied; --on-error reject rejects their records")
      } else if let most = options.maxRejects, refused > most {
        lines.append("\(refused) values cannot be copied, and --max-rejects is \(most)")
      }
    }
    let present = plan.models.reduce(0) { $0 + $1.present }
    if plan.isInterrupted {
      lines.append(
        "the destination holds an interrupted migration; --resume continues it, --restart starts over")
    } else if present > 0, options.conflicts == .fail {
      lines.append("the destination already holds \(present) records; --on-conflict resolves them")
    }
    if plan.estimate.isTooLarge { lines.append("the free space is insufficient") }
    self.lines = lines
  }
}
