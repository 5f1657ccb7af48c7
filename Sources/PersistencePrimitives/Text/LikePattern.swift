/// A prepared `like` pattern (contract V7).
///
/// - `%` stands for any run of scalars, also the empty one.
/// - `_` stands for exactly one scalar.
/// - `\` takes the scalar after it literally, whichever that is: `\%`, `\_`, `\\`, and `\a` is `a`.
///   A pattern that ends in a lone `\` is an error.
/// - Everything else stands for itself, and the pattern describes the whole text, line ends and U+0000
///   included.
///
/// Scalars are compared, not grapheme clusters: "e" + U+0301 needs two `_`. Without case, pattern and text
/// are first replaced by their lower-cased scalars (``CaseFolding``), and `_` counts those: İ becomes two
/// scalars, so `__` matches it and `_` does not.
///
/// Matching takes the leftmost place for each run between two `%`, which is enough, and never goes back. It
/// is linear in the text; a run of `n` scalars with a `_` inside costs n/64 steps for each scalar of the
/// text.
package struct LikePattern: Sendable {
  /// The bytes that every matching text begins with; empty for a pattern without case, whose texts share
  /// none.
  package let literalPrefix: [UInt8]

  /// Whether the pattern has neither `%` nor `_`, so that (with case) only ``literalPrefix`` itself matches.
  package let isLiteral: Bool

  private let caseInsensitive: Bool
  private let form: LikeForm

  /// Prepares a pattern.
  /// - Throws: ``TextPatternError`` for a lone `\` at the end, and for a run of more than
  ///   ``LikeSearch/longestWildcardRun`` scalars with a `_` inside.
  package init(_ pattern: String, caseInsensitive: Bool = false) throws {
    self.caseInsensitive = caseInsensitive
    form = try LikeForm(LikeRun.parse(pattern, caseInsensitive: caseInsensitive))
    isLiteral = form.isClosed && !form.head.hasWildcard
    literalPrefix = caseInsensitive ? [] : form.head.leadingBytes
  }

  /// Whether the whole text, given as UTF-8, has the pattern's form.
  package func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    caseInsensitive ? CaseFolding.withLowercased(text) { form.matches($0) } : form.matches(text)
  }
}

/// What a `like` pattern asks of a text; an object, so that matching copies no part of it.
private final class LikeForm: Sendable {
  /// What stands before the first `%`, or the whole pattern where there is none.
  let head: LikeRun

  /// Whether there is no `%`.
  let isClosed: Bool

  /// What stands between one `%` and the next.
  private let middle: [LikeSearch]

  /// What stands after the last `%`.
  private let tail: LikeRun

  init(_ runs: [LikeRun]) throws {
    head = runs.first ?? LikeRun()
    isClosed = runs.count < 2
    tail = runs.dropFirst().last ?? LikeRun()
    middle = try runs.dropFirst().dropLast().filter { !$0.isEmpty }.map(LikeSearch.init)
  }

  func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var position = 0
    if !head.isEmpty {
      guard let end = head.end(in: text, from: 0) else { return false }
      position = end
    }
    if isClosed { return position == text.count }
    var end = text.count
    if !tail.isEmpty {
      guard let start = tail.start(in: text, before: end, notBefore: position) else { return false }
      end = start
    }
    for search in middle {
      guard let next = search.end(in: text, from: position, to: end) else { return false }
      position = next
    }
    return true
  }
}
