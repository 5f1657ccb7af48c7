import PersistenceDriver

/// Shortens two values to the part in which they differ.
enum CellDifference {
  private static let limit = 80

  static func texts(_ left: RowCell, _ right: RowCell) throws -> (left: String, right: String) {
    let start = firstDifference(left, right)
    return (try text(left, from: start), try text(right, from: start))
  }

  /// The offset of the first different byte of two text, byte or document values; 0 otherwise.
  private static func firstDifference(_ left: RowCell, _ right: RowCell) -> Int {
    guard left.tag == right.tag else { return 0 }
    let (first, second) = (left.borrowedBytes, right.borrowedBytes)
    var position = 0
    while position < min(first.count, second.count), first[position] == second[position] { position += 1 }
    return position
  }

  private static func text(_ cell: RowCell, from difference: Int) throws -> String {
    switch cell.tag {
    case .text, .bytes, .document: break
    default: return try cell.value().description
    }
    let bytes = cell.borrowedBytes
    guard bytes.count > limit else { return try cell.value().description }
    let start = max(0, min(difference - limit / 4, bytes.count - limit))
    let part = Array(bytes[start..<min(bytes.count, start + limit)])
    let shown: PersistentValue =
      cell.tag == .bytes ? .bytes(part) : .text(String(decoding: part, as: UTF8.self))
    return "\(start > 0 ? "…" : "")\(shown)… (\(bytes.count) bytes, from byte \(start))"
  }
}
