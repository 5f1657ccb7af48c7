import Synchronization

/// A prepared pattern for `matches` (contract V7): one dialect, one implementation, on every context.
///
/// A text matches if it contains the pattern **anywhere**, as in RE2's `PartialMatch`; `^…$` requires the
/// whole text. Matching compares Unicode scalars, not grapheme clusters. It is linear in the text for every
/// pattern, since it never backtracks.
///
/// The dialect is RE2's syntax (<https://github.com/google/re2/wiki/Syntax>) without its script names and
/// `\C`:
/// - `.` any scalar but `\n`; `[a-z]`, `[^…]`, `[[:alpha:]]`, `[[:^alpha:]]`; `\d \D \s \S \w \W`, which are
///   ASCII;
/// - `\pL`, `\p{Lu}`, `\P…`, `\p{^…}`: general categories of one or two letters, and `\p{Any}`;
/// - `\x41`, `\x{10FFFF}`, `\101` and `\0` (octal), `\a \f \n \r \t \v`, `\` before ASCII punctuation,
///   `\Q…\E`;
/// - `*`, `+`, `?`, `{n}`, `{n,}`, `{n,m}`, at most 1000, also lazy (which gives the same result);
/// - `|`, `(…)`, `(?:…)`, `(?P<name>…)`, `(?<name>…)`; flags `i`, `s`, `m`, `U` as `(?i)`, `(?i-s:…)`;
/// - `^` and `\A` the start of the text, `$` and `\z` its end (never before a last `\n`); with the flag `m`,
///   `^` and `$` are the start and end of lines; `\b` and `\B` are the ASCII word boundary and its opposite.
///
/// The error for a back-reference, look-around, atomic group, possessive repetition, recursion, conditional
/// or comment names the construct. These need more than linear time, or are not part of the dialect.
///
/// A case-insensitive match compares lower-case mappings. A scalar whose mapping has several scalars (İ) is
/// its own mapping here, so that a class stays a set of scalars.
package struct RegularExpressionPattern: Sendable {
  private let stepLimit: Int
  private let pool: AutomatonPool

  /// The number of instructions, to which the pattern's memory is proportional.
  package let size: Int

  /// Prepares a pattern.
  ///
  /// The step limit is the maximum cost of one text, by default a few seconds at worst. Each scalar costs the number of
  /// positions in the pattern that a match may have reached, so every run on the same text stops at the same position.
  package init(_ pattern: String, caseInsensitive: Bool = false, stepLimit: Int = 200_000_000) throws {
    self.stepLimit = stepLimit
    let syntax = try RegularExpressionParser.parse(pattern, caseInsensitive: caseInsensitive)
    let program = try RegularExpressionProgram(syntax)
    pool = AutomatonPool(program)
    size = program.instructions.count
  }

  /// Whether the text, in UTF-8, contains the pattern; several threads may call it concurrently.
  package func matches(_ text: UnsafeBufferPointer<UInt8>) throws -> Bool {
    let automaton = pool.take()
    defer { pool.put(automaton) }
    return try automaton.matches(text, stepLimit: stepLimit)
  }
}

/// The idle automata of one pattern, with the states built so far.
private final class AutomatonPool: Sendable {
  private static let mostKept = 8

  private let program: RegularExpressionProgram
  private let idle = Mutex<[LazyAutomaton]>([])

  init(_ program: RegularExpressionProgram) { self.program = program }

  func take() -> LazyAutomaton { idle.withLock { $0.popLast() } ?? LazyAutomaton(program) }

  func put(_ automaton: LazyAutomaton) {
    idle.withLock { if $0.count < Self.mostKept { $0.append(automaton) } }
  }
}
