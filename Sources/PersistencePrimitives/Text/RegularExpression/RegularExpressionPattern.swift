import Synchronization

/// A prepared pattern for `matches` (contract V7): one dialect, one implementation, on every context.
///
/// A text matches where the pattern is found **anywhere** in it, as in RE2's `PartialMatch`; `^…$` asks for
/// the whole text. Matching is by Unicode scalars, never by grapheme clusters, and takes time linear in the
/// text, whatever the pattern: there is no backtracking.
///
/// The dialect is RE2's syntax (<https://github.com/google/re2/wiki/Syntax>) without its script names and
/// `\C`:
/// - `.` any scalar but `\n`; `[a-z]`, `[^…]`, `[[:alpha:]]`, `[[:^alpha:]]`; `\d \D \s \S \w \W`, which are
///   ASCII;
/// - `\pL`, `\p{Lu}`, `\P…`, `\p{^…}`: general categories of one or two letters, and `\p{Any}`;
/// - `\x41`, `\x{10FFFF}`, `\101` and `\0` (octal), `\a \f \n \r \t \v`, `\` before ASCII punctuation,
///   `\Q…\E`;
/// - `*`, `+`, `?`, `{n}`, `{n,}`, `{n,m}`, at most 1000, each also lazy (which makes no difference to a yes
///   or no);
/// - `|`, `(…)`, `(?:…)`, `(?P<name>…)`, `(?<name>…)`; flags `i`, `s`, `m`, `U` as `(?i)`, `(?i-s:…)`;
/// - `^` and `\A` the start of the text, `$` and `\z` its end (never before a last `\n`); with the flag `m`,
///   `^` and `$` are the start and end of lines; `\b` and `\B` are the ASCII word boundary and its opposite.
///
/// Back-references, look-around, atomic groups, possessive repetitions, recursion, conditionals and comments
/// are refused by name, since they cannot be had in linear time or are not part of the dialect.
///
/// Without case, a scalar fits a literal or a class where its lower-case mapping is that of a member; a
/// scalar whose mapping is several scalars long (İ) is its own mapping here, so that a class stays a set of
/// scalars.
package struct RegularExpressionPattern: Sendable {
  /// The steps that one text may take unless said otherwise: a few seconds at the worst.
  package static let defaultStepLimit = 200_000_000

  private let stepLimit: Int
  private let pool: AutomatonPool

  /// Prepares a pattern.
  ///
  /// - Parameters:
  ///   - pattern: The pattern, in the dialect above.
  ///   - caseInsensitive: Whether the pattern begins as if by `(?i)`.
  ///   - stepLimit: How much one text may cost. Each scalar costs the number of places in the pattern that a
  ///     match may stand at then, so the limit is reached at the same place of the same text on every run.
  /// - Throws: ``TextPatternError``, naming what is wrong, not supported or too large, and its place.
  package init(
    _ pattern: String, caseInsensitive: Bool = false, stepLimit: Int = Self.defaultStepLimit
  ) throws {
    self.stepLimit = stepLimit
    let syntax = try RegularExpressionParser.parse(pattern, caseInsensitive: caseInsensitive)
    pool = AutomatonPool(try RegularExpressionProgram(syntax))
  }

  /// Whether the pattern is found in the text, given as UTF-8.
  ///
  /// Safe to call from several threads at once.
  /// - Throws: ``TextPatternError`` when the step limit is reached.
  package func matches(_ text: UnsafeBufferPointer<UInt8>) throws -> Bool {
    let automaton = pool.take()
    defer { pool.giveBack(automaton) }
    return try automaton.matches(text, stepLimit: stepLimit)
  }
}

/// The automata of one pattern that are not in use, with the states they have learnt.
private final class AutomatonPool: Sendable {
  private static let mostKept = 8

  private let program: RegularExpressionProgram
  private let idle = Mutex<[LazyAutomaton]>([])

  init(_ program: RegularExpressionProgram) { self.program = program }

  func take() -> LazyAutomaton {
    idle.withLock { $0.popLast() } ?? LazyAutomaton(program)
  }

  func giveBack(_ automaton: LazyAutomaton) {
    idle.withLock { if $0.count < Self.mostKept { $0.append(automaton) } }
  }
}
