import PersistenceDriver
import PersistenceDriverSupport

/// Prints rows as a table, a JSON array or CSV.
final class RowPrinter {
  private let format: RowFormat
  private let fields: [FieldSchema]
  private let output: ByteOutput
  private var table: TextTable
  private(set) var count = 0

  /// Creates a printer of rows that have these fields.
  init(_ format: RowFormat, _ fields: [FieldSchema], _ session: ToolSession) throws {
    self.format = format
    self.fields = fields
    output = session.output
    let columns = fields.map { field in
      TextTable.Column(
        title: field.name,
        isRight: field.kind.isInteger || [.double, .float, .decimal].contains(field.kind))
    }
    table = TextTable(columns, cellLimit: output.isTerminal ? 40 : nil, output: output)
    switch format {
    case .table: break
    case .json: try output.write("[")
    case .csv:
      try output.write(DelimitedText.line(fields.map(\.name)))
    }
  }

  func add(_ row: borrowing Row) throws {
    switch format {
    case .table:
      var cells: [String] = []
      for (position, field) in fields.enumerated() {
        cells.append(ValueWriter.displayText(try row.value(at: position), field.kind))
      }
      try table.add(cells)
    case .json:
      try output.write(count == 0 ? "\n" : ",\n")
      try output.write(RecordText.json(row, fields))
    case .csv: try output.write(try RecordText.delimited(row, fields))
    }
    count += 1
  }

  func finish() throws {
    switch format {
    case .table: try table.finish()
    case .json: try output.write(count == 0 ? "]\n" : "\n]\n")
    case .csv: break
    }
  }
}
