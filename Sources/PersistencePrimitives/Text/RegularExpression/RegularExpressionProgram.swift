/// A regular expression as a nondeterministic automaton (Thompson, 1968), with its alphabet.
final class RegularExpressionProgram: Sendable {
  enum Instruction: Sendable {
    /// Continue with both.
    case split(Int, Int)
    /// Consume one scalar of the numbered set, then continue.
    case scalar(set: Int, next: Int)
    /// Continue if the assertion holds at this position.
    case assertion(RegularExpressionSyntax.Assertion, next: Int)
    case match
  }

  /// The maximum number of instructions.
  static let largestProgram = 10_000

  let instructions: [Instruction]
  let start: Int
  let isAnchoredAtStart: Bool
  let alphabet: ScalarAlphabet
  let usesLines: Bool
  let usesWords: Bool
  let usesAssertions: Bool

  /// Compiles a syntax tree; throws if the program or its alphabet is too large.
  init(_ syntax: RegularExpressionSyntax) throws {
    var compiler = Compiler()
    start = try compiler.compile(syntax, next: 0)
    instructions = compiler.instructions
    isAnchoredAtStart = syntax.isAnchoredAtStart
    usesAssertions = !compiler.assertions.isEmpty
    usesLines = compiler.assertions.contains(.lineStart) || compiler.assertions.contains(.lineEnd)
    usesWords = compiler.assertions.contains(.wordBoundary) || compiler.assertions.contains(.notWordBoundary)
    let neighbours: [ScalarSet] = (usesLines ? [.newline] : []) + (usesWords ? [.word] : [])
    alphabet = try ScalarAlphabet(compiler.sets + neighbours)
  }

  static var tooLarge: TextPatternError { TextPatternError(reason: "pattern too large", position: 0) }
}

extension RegularExpressionProgram {
  /// Writes the instructions from the end of the pattern to its beginning, so that each can refer to its
  /// successor.
  private struct Compiler {
    var instructions: [Instruction] = [.match]
    var sets: [ScalarSet] = []
    var assertions: Set<RegularExpressionSyntax.Assertion> = []
    private var numberOfSet: [ScalarSet: Int] = [:]

    /// Compiles a node that continues with `next`, and returns its first instruction.
    mutating func compile(_ syntax: RegularExpressionSyntax, next: Int) throws -> Int {
      switch syntax {
      case .empty: return next
      case .scalar(let set): return try emit(.scalar(set: number(of: set), next: next))
      case .assertion(let assertion):
        assertions.insert(assertion)
        return try emit(.assertion(assertion, next: next))
      case .sequence(let nodes): return try nodes.reversed().reduce(next) { try compile($1, next: $0) }
      case .choice(let nodes):
        guard var entry = try nodes.last.map({ try compile($0, next: next) }) else { return next }
        for node in nodes.dropLast().reversed() {
          entry = try emit(.split(try compile(node, next: next), entry))
        }
        return entry
      case .repetition(let node, let least, let most):
        return try compile(node, least: least, most: most, next: next)
      }
    }

    private mutating func compile(
      _ node: RegularExpressionSyntax, least: Int, most: Int?, next: Int
    ) throws -> Int {
      var entry = next
      var copies = least
      if let most {
        for _ in least..<most { entry = try emit(.split(try compile(node, next: entry), next)) }
      } else {
        let loop = try emit(.split(next, next))
        let body = try compile(node, next: loop)
        instructions[loop] = .split(body, next)
        entry = least == 0 ? loop : body
        copies = max(0, least - 1)
      }
      for _ in 0..<copies { entry = try compile(node, next: entry) }
      return entry
    }

    private mutating func emit(_ instruction: Instruction) throws -> Int {
      guard instructions.count < largestProgram else { throw tooLarge }
      instructions.append(instruction)
      return instructions.count - 1
    }

    private mutating func number(of set: ScalarSet) -> Int {
      if let number = numberOfSet[set] { return number }
      numberOfSet[set] = sets.count
      sets.append(set)
      return sets.count - 1
    }
  }
}
