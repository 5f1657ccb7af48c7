/// An aligned text table.
///
/// The first rows determine the column widths, so that the rest can be streamed.
struct TextTable {
  /// A column.
  struct Column {
    /// The heading.
    let title: String
    /// Whether values are right-aligned.
    var isRight = false
  }

  private static let sampleLimit = 200

  private let columns: [Column]
  private let cellLimit: Int?
  private let output: ByteOutput
  private var sample: [[String]] = []
  private var widths: [Int]?

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - columns: The columns.
  ///   - cellLimit: The maximum width of a value, in terminal columns; nil for no limit.
  ///   - output: The output.
  init(_ columns: [Column], cellLimit: Int? = nil, output: ByteOutput) {
    self.columns = columns
    self.cellLimit = cellLimit
    self.output = output
  }

  /// Adds a row.
  mutating func add(_ row: [String]) throws {
    let row = row.map { cell in
      let safe = TerminalText.safe(cell)
      return cellLimit.map { TerminalText.cut(safe, to: $0) } ?? safe
    }
    if let widths { return try write(row, widths) }
    sample.append(row)
    if sample.count == Self.sampleLimit { try fixWidths() }
  }

  /// Ends the table.
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
