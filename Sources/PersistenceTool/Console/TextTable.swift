/// An aligned text table.
///
/// The first rows determine the column widths, so that the rest can be streamed.
struct TextTable {
  struct Column {
    let title: String
    var isRight = false
  }

  private static let sampleLimit = 200

  private let columns: [Column]
  private let cellLimit: Int?
  private let output: ByteOutput
  private var sample: [[String]] = []
  private var widths: [Int]?

  /// Creates a table, optionally with a maximum width of values in terminal columns.
  init(_ columns: [Column], cellLimit: Int? = nil, output: ByteOutput) {
    self.columns = columns
    self.cellLimit = cellLimit
    self.output = output
  }

  mutating func add(_ row: [String]) throws {
    let row = row.map { cell in
      let safe = TerminalText.safe(cell)
      return cellLimit.map { TerminalText.cut(safe, to: $0) } ?? safe
    }
    if let widths { return try write(row, widths) }
    sample.append(row)
    if sample.count == Self.sampleLimit { try fixWidths() }
  }

  mutating func finish() throws {
    if widths == nil { try fixWidths() }
  }

  private mutating func fixWidths() throws {
    let titles = columns.map { TerminalText.safe($0.title) }
    var widths = titles.map(TerminalText.width)
    for row in sample {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], TerminalText.width(cell)) }
    }
    try write(titles, widths)
    try output.line(widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "))
    for row in sample { try write(row, widths) }
    self.widths = widths
    sample = []
  }

  private func write(_ row: [String], _ widths: [Int]) throws {
    var line = ""
    for (index, cell) in row.enumerated() {
      if index > 0 { line += "  " }
      line += TerminalText.padded(cell, to: widths[index], atRight: columns[index].isRight)
    }
    while line.last == " " { line.removeLast() }
    try output.line(line)
  }
}
