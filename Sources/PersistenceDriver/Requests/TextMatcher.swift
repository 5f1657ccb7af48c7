import PersistencePrimitives

/// A prepared text search: the one implementation of contract V7 for all engines.
///
/// A context whose engine cannot search text exactly as the contract requires calls it, for example from an SQL
/// function.
public struct TextMatcher: Sendable {
  private enum Kind: Sendable {
    case contains(TextNeedle)
    case hasPrefix(TextNeedle)
    case hasSuffix(TextNeedle)
    case like(LikePattern)
    case matches(RegularExpressionPattern)
  }

  private let kind: Kind

  /// Prepares a search.
  ///
  /// - Parameters:
  ///   - search: The kind of search.
  ///   - needle: The text or pattern to find.
  ///   - isCaseInsensitive: Whether the search compares lower-case mappings.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if a pattern is malformed.
  public init(_ search: TextOperator, _ needle: String, isCaseInsensitive: Bool) throws {
    do {
      switch search {
      case .contains: kind = .contains(TextNeedle(needle, caseInsensitive: isCaseInsensitive))
      case .hasPrefix: kind = .hasPrefix(TextNeedle(needle, caseInsensitive: isCaseInsensitive))
      case .hasSuffix: kind = .hasSuffix(TextNeedle(needle, caseInsensitive: isCaseInsensitive))
      case .like: kind = .like(try LikePattern(needle, caseInsensitive: isCaseInsensitive))
      case .matches:
        kind = .matches(try RegularExpressionPattern(needle, caseInsensitive: isCaseInsensitive))
      }
    } catch let error as TextPatternError {
      throw PersistenceError.invalidRequest(
        "the \(search.rawValue) pattern is malformed at position \(error.position): \(error.reason)")
    }
  }

  /// The number of instructions of a regular expression; 0 for other searches.
  var patternSize: Int { if case .matches(let pattern) = kind { pattern.size } else { 0 } }

  /// Whether UTF-8 text matches.
  ///
  /// - Parameter text: Valid UTF-8, which may contain U+0000.
  /// - Returns: Whether the text matches.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/patternTooSlow`` if a regular expression exceeds
  ///   its step limit, and those of ``ReadInterruption/check()`` for a long text.
  /// - Complexity: Linear in the text; for `matches`, in text times pattern.
  public func matches(_ text: UnsafeBufferPointer<UInt8>) throws -> Bool {
    if text.count > 1 << 16 { try ReadInterruption.check() }
    switch kind {
    case .contains(let needle): return needle.isContained(in: text)
    case .hasPrefix(let needle): return needle.isPrefix(of: text)
    case .hasSuffix(let needle): return needle.isSuffix(of: text)
    case .like(let pattern): return pattern.matches(text)
    case .matches(let pattern):
      do {
        return try pattern.matches(text)
      } catch let error as TextPatternError {
        throw PersistenceError(
          .patternTooSlow,
          "the regular expression was stopped: \(error.reason); simplify it, or filter the rows further")
      }
    }
  }
}
