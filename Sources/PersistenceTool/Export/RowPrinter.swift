import PersistenceDriver
import PersistenceDriverSupport

/// Prints rows as a table, a JSON array or CSV.
final class RowPrinter {
  private let format: RowFormat
  private let schema: ModelSchema
  private let positions: [Int]
  private let output: ByteOutput
  private var table: TextTable
  private(set) var count = 0

  init(_ format: RowFormat, _ schema: ModelSchema, _ positions: [Int], _ session: ToolSession) throws {
    self.format = format
    self.schema = schema
    self.positions = positions
    output = session.output
    let columns = positions.map { position in
      let kind = schema.fields[position].kind
      return TextTable.Column(
        title: schema.fields[position].name,
        isRight: kind.isInteger || [.double, .float, .decimal].contains(kind))
    }
    table = TextTable(columns, cellLimit: output.isTerminal ? 40 : nil, output: output)
    switch format {
    case .table: break
    case .json: try output.write("[")
    case .csv:
      try output.write(DelimitedText.line(positions.map { schema.fields[$0].name }))
    }
  }

  func add(_ row: borrowing Row) throws {
    switch format {
    case .table:
      var cells: [String] = []
      for position in positions {
        cells.append(ValueWriter.displayText(try row.value(at: position), schema.fields[position].kind))
      }
      try table.add(cells)
    case .json:
      try output.write(count == 0 ? "\n" : ",\n")
      try output.write(RecordText.json(row, schema, positions))
    case .csv: try output.write(try RecordText.delimited(row, schema, positions))
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
