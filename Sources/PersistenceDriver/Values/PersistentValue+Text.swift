import Foundation

extension PersistentValue: CustomStringConvertible {
  /// The value as a predicate prints it: text in single quotes, bytes as `x'…'`, `nil` for no value.
  public var description: String {
    switch self {
    case .null: "nil"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .text(let value): "'" + value.replacing("'", with: "''") + "'"
    case .bytes(let value): "x'" + value.map { String($0, radix: 16).leftPadded(to: 2) }.joined() + "'"
    case .date(let value): "date(\(value))"
    case .uuid(let value): "uuid('\(value.uuidString)')"
    case .decimal(let value): "decimal('\(value.canonicalText)')"
    case .document(let value): "document(\(value))"
    }
  }
}

extension String {
  fileprivate func leftPadded(to width: Int) -> String {
    String(repeating: "0", count: max(0, width - utf8.count)) + self
  }
}
