import Foundation

extension PersistentValue: CustomStringConvertible {
  /// The value as a predicate prints it: text in single quotes, bytes as `x'…'`, `nil` for no value.
  public var description: String {
    switch self {
    case .null: "nil"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .text(let value): "'" + value.doubling("'") + "'"
    case .bytes(let value): "x'" + value.map { String($0, radix: 16).leftPadded(to: 2) }.joined() + "'"
    case .date(let value): "date(\(value))"
    case .uuid(let value): "uuid('\(value.uuidString)')"
    case .decimal(let value): "decimal('\(value.canonicalText)')"
    case .document(let value): "document(\(value))"
    }
  }
}

extension PersistentValue {
  /// The value as text of a length that a log can bear: of long text and bytes only the beginning and the size.
  package var loggedDescription: String {
    let limit = 64
    switch self {
    case .text(let value) where value.utf8.count > limit * 4:
      return PersistentValue.text(String(value.prefix(limit))).description + "… (\(value.utf8.count) bytes)"
    case .document(let value) where value.utf8.count > limit * 4:
      return "document(\(value.prefix(limit))… (\(value.utf8.count) bytes))"
    case .bytes(let value) where value.count > limit:
      return PersistentValue.bytes(Array(value.prefix(limit))).description + "… (\(value.count) bytes)"
    default: return description
    }
  }
}

extension String {
  fileprivate func leftPadded(to width: Int) -> String {
    String(repeating: "0", count: max(0, width - utf8.count)) + self
  }
}
