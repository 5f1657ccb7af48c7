/// A prepared `like` pattern (contract V7).
///
/// - `%` matches any sequence of scalars, including the empty one.
/// - `_` matches exactly one scalar.
/// - `\` makes the next scalar literal: `\%`, `\_`, `\\`, and `\a` is `a`.
///   A pattern that ends in a lone `\` is an error.
/// - Any other scalar matches itself. The pattern must match the whole text, including line ends and U+0000.
///
/// Matching compares scalars, not grapheme clusters: "e" + U+0301 needs two `_`. A case-insensitive match
/// lower-cases the pattern and the text first (``CaseFolding``), and `_` counts the resulting scalars: İ
/// becomes two, so `__` matches it and `_` does not.
///
/// Matching takes the leftmost position for each run between two `%`, which suffices, and never backtracks.
/// It is linear in the text; a run of `n` scalars with a `_` inside costs n/64 steps per scalar of the text.
package struct LikePattern: Sendable {
  /// The bytes that every matching text begins with; empty for a case-insensitive pattern.
  package let literalPrefix: [UInt8]

  /// Whether the pattern has no wildcard, so that a case-sensitive one matches only ``literalPrefix``.
  package let isLiteral: Bool

  private let caseInsensitive: Bool
  private let form: LikeForm

  /// Prepares a pattern; throws for a lone `\` at the end, and for a run of more than
  /// ``LikeSearch/longestWildcardRun`` scalars with a `_` inside.
  package init(_ pattern: String, caseInsensitive: Bool = false) throws {
    self.caseInsensitive = caseInsensitive
    form = try LikeForm(LikeRun.parse(pattern, caseInsensitive: caseInsensitive))
    isLiteral = form.isClosed && !form.head.hasWildcard
    literalPrefix = caseInsensitive ? [] : form.head.leadingBytes
  }

  /// Whether the whole text, in UTF-8, matches.
  package func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    caseInsensitive ? CaseFolding.withLowercased(text) { form.matches($0) } : form.matches(text)
  }
}

/// The parsed form of a `like` pattern; a class, so that matching copies nothing.
private final class LikeForm: Sendable {
  /// The run before the first `%`, or the whole pattern without a `%`.
  let head: LikeRun

  /// Whether the pattern has no `%`.
  let isClosed: Bool

  /// The runs between one `%` and the next.
  private let middle: [LikeSearch]

  /// The run after the last `%`.
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

/// The reason that a text pattern is invalid, or was stopped.
package struct TextPatternError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The problem, with the construct as the author spelled it, without a full stop.
  package let reason: String

  /// The position in the pattern, counted in Unicode scalars from 0.
  ///
  /// For a pattern that was stopped while it ran, it is the byte offset in the *text*.
  package let position: Int

  package var description: String { "\(reason) (at \(position))" }
}
