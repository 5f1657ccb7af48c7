/// Prints the report of an import.
struct ImportPrinter {
  let report: ImportReport
  let session: ToolSession

  func print(_ format: ResultFormat) throws {
    try session.print(report, as: format, table: printTable)
    for rejected in report.rejects {
      let key = rejected.key.map { " (key \($0))" } ?? ""
      try session.messages.line(TerminalText.safe("rejected: \(rejected.place)\(key): \(rejected.reason)"))
    }
    let hidden = report.rejected - report.rejects.count
    if hidden > 0 { try session.messages.line("… and \(hidden) more; to list all, use --rejects FILE") }
    try session.messages.flush()
  }

  private func printTable(to output: ByteOutput) throws {
    var table = TextTable(
      [
        .init(title: "field"), .init(title: "kind"), .init(title: "null", isRight: true),
        .init(title: "found"), .init(title: "converted"),
      ], cellLimit: output.isTerminal ? 60 : nil, output: output)
    for field in report.fields {
      let isGenerated = report.isKeyGenerated && report.key == [field.name]
      let conversions = field.conversions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      try table.add([
        field.name, field.kind, field.nulls == 0 ? "" : "\(field.nulls)",
        isGenerated ? "generated: 1, 2, 3 …" : field.found ?? "", conversions.joined(separator: ", "),
      ])
    }
    try table.finish()
    try output.line(
      "\(report.read) records read, \(report.imported) stored as \(TerminalText.safe(report.model)), "
        + "\(report.rejected) rejected")
  }
}
