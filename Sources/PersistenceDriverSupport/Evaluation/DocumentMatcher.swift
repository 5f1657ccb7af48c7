import PersistenceDriver
import PersistencePrimitives

/// A prepared condition on a part of a document: the one implementation of contract V8.
struct DocumentMatcher: Sendable {
  private enum Test: Sendable {
    case comparison(ComparisonOperator, JSONValue)
    case text(TextMatcher)
    case contains(JSONValue)
  }

  private let path: [String]
  private let test: Test

  /// Prepares a validated condition.
  init(path: [String], _ condition: DocumentCondition) throws {
    self.path = path
    test =
      switch condition {
      case .comparison(let comparison, let value): .comparison(comparison, try Self.json(value))
      case .contains(let value): .contains(try Self.json(value))
      case .text(let search, let needle, let isCaseInsensitive):
        .text(try TextMatcher(search, needle, isCaseInsensitive: isCaseInsensitive))
      }
  }

  private static func json(_ value: PersistentValue) throws -> JSONValue {
    guard case .document(let text) = value else { return .null }
    do {
      return try JSONParser.parse(text)
    } catch {
      throw PersistenceError.invalidRequest("the operand of a condition on a document is not JSON: \(error)")
    }
  }

  /// Whether the document in a cell matches.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the cell does not contain JSON.
  func matches(_ cell: RowCell) throws -> Bool {
    let part = try part(of: cell)
    switch test {
    case .comparison(let comparison, let operand): return Self.holds(part, comparison, operand)
    case .text(let matcher):
      guard case .string(var text) = part else { return false }
      return try text.withUTF8 { try matcher.matches($0) }
    case .contains(let element):
      guard case .array(let elements) = part else { return false }
      return elements.contains { JSONOrder.areEqual($0, element) }
    }
  }

  /// The JSON value at the path; `.null` if it is missing.
  private func part(of cell: RowCell) throws -> JSONValue {
    if cell.isNull { return .null }
    guard cell.tag == .document else {
      throw PersistenceError.damaged("a field contains \(cell.tag) instead of a document")
    }
    do {
      var parser = JSONParser(UnsafeRawBufferPointer(cell.borrowedBytes))
      return try parser.parseValue(at: path) ?? .null
    } catch {
      throw PersistenceError.damaged("a document is not JSON: \(error)")
    }
  }

  private static func holds(_ part: JSONValue, _ comparison: ComparisonOperator, _ operand: JSONValue) -> Bool
  {
    let (leftIsNull, rightIsNull) = (part.isNull, operand.isNull)
    if leftIsNull || rightIsNull {
      return comparison.holds(leftIsNull: leftIsNull, rightIsNull: rightIsNull, order: 0)
    }
    switch comparison {
    case .equal: return JSONOrder.areEqual(part, operand)
    case .notEqual: return !JSONOrder.areEqual(part, operand)
    default:
      guard let order = JSONOrder.order(part, operand) else { return false }
      return comparison.holds(leftIsNull: false, rightIsNull: false, order: order)
    }
  }
}
