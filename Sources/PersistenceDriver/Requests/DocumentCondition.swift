import PersistencePrimitives

/// A condition on a part of a document (contract V8).
///
/// The part is the JSON value at a path; a part that is missing or JSON `null` is nil. Operands are documents, or nil.
/// Numbers are equal and ordered by value, at every depth. Only numbers, texts and Booleans have an order, among their
/// own kind. `"NaN"`, `"Infinity"` and `"-Infinity"`, as which documents store what JSON has no numbers for, are ordered
/// among the numbers.
public enum DocumentCondition: Sendable {
  /// The part compared with a JSON value or nil; an ordering is false for nil, and between kinds of values.
  case comparison(ComparisonOperator, PersistentValue)
  /// A search in a part that is text; false for any other part.
  case text(TextOperator, String, isCaseInsensitive: Bool)
  /// The part is an array that contains a JSON value; false for any other part.
  case contains(PersistentValue)
}

extension DocumentCondition: Hashable {
  /// Whether two conditions are the same; texts are compared by their bytes.
  public static func == (left: DocumentCondition, right: DocumentCondition) -> Bool {
    left.form == right.form
  }

  /// Hashes the condition.
  public func hash(into hasher: inout Hasher) { hasher.combine(form) }

  private enum Form: Hashable {
    case comparison(ComparisonOperator, PersistentValue)
    case text(TextOperator, StoredName, isCaseInsensitive: Bool)
    case contains(PersistentValue)
  }

  private var form: Form {
    switch self {
    case .comparison(let comparison, let value): .comparison(comparison, value)
    case .text(let search, let needle, let isCaseInsensitive):
      .text(search, StoredName(needle), isCaseInsensitive: isCaseInsensitive)
    case .contains(let value): .contains(value)
    }
  }
}

extension DocumentCondition {
  /// Checks the operand or pattern; operands become canonical.
  func validated(_ patterns: inout PatternBudget) throws -> DocumentCondition {
    switch self {
    case .comparison(let comparison, let value): return .comparison(comparison, try Self.operand(value))
    case .contains(let value): return .contains(try Self.operand(value))
    case .text(let search, let needle, let isCaseInsensitive):
      try patterns.add(try TextMatcher(search, needle, isCaseInsensitive: isCaseInsensitive))
      return self
    }
  }

  private static func operand(_ value: PersistentValue) throws -> PersistentValue {
    switch value {
    case .null: return .null
    case .document(let text):
      do {
        return .document(try JSONDocument.canonical(text))
      } catch {
        throw PersistenceError.invalidRequest(
          "the operand of a condition on a document is not JSON: \(error)")
      }
    default:
      throw PersistenceError.invalidRequest(
        "a part of a document is compared with JSON, not with \(value.tag); encode the operand as a document")
    }
  }

  /// The condition as text, for logs.
  func text(of part: String, _ value: (PersistentValue) -> String) -> String {
    switch self {
    case .comparison(let comparison, let operand): "\(part) \(comparison.rawValue) \(value(operand))"
    case .contains(let element): "contains(\(part), \(value(element)))"
    case .text(let search, let needle, let isCaseInsensitive):
      "\(search.rawValue)(\(part), \(value(.text(needle)))\(isCaseInsensitive ? ", caseInsensitive" : ""))"
    }
  }
}
