/// One step of a program over one scalar, for all instructions that a match may have reached.
struct ProgramSteps {
  private let program: RegularExpressionProgram

  /// The instructions reached before the step: those that consume a scalar, and assertions.
  var reached: [UInt32] = []

  /// The instructions reached after the step, in no particular order.
  var found: [UInt32] = []

  /// Whether a match was found.
  private(set) var foundMatch = false

  /// The instructions visited for the current set: those with the current mark.
  private var marks: [UInt32]
  private var mark: UInt32 = 0
  private var stack: [Int] = []

  init(_ program: RegularExpressionProgram) {
    self.program = program
    marks = [UInt32](repeating: 0, count: program.instructions.count)
  }

  /// Starts the next step with the instructions found.
  mutating func continueFromFound() { swap(&reached, &found) }

  /// Sets `found` to the program's first instructions.
  mutating func begin() {
    beginSet()
    follow(program.start)
  }

  /// Sets `found` to the instructions after those in `reached` consume a scalar of a class.
  mutating func take(_ number: Int) {
    beginSet()
    for item in reached {
      if case .scalar(let set, let next) = program.instructions[Int(item)],
        program.alphabet.isMember(number, of: set)
      {
        follow(next)
      }
    }
    if !program.isAnchoredAtStart { follow(program.start) }
  }

  /// Adds the instructions behind the assertions that hold at this position to `reached`; returns whether they include
  /// the match.
  mutating func passAssertions(
    between before: ScalarAlphabet.Kind, and after: ScalarAlphabet.Kind
  ) -> Bool {
    guard program.usesAssertions else { return false }
    beginSet()
    for item in reached { marks[Int(item)] = mark }
    var index = 0
    while index < reached.count {
      if case .assertion(let assertion, let next) = program.instructions[Int(reached[index])],
        assertion.holds(between: before, and: after)
      {
        found.removeAll(keepingCapacity: true)
        follow(next)
        reached += found
        if foundMatch { return true }
      }
      index += 1
    }
    return false
  }

  private mutating func beginSet() {
    found.removeAll(keepingCapacity: true)
    foundMatch = false
    mark &+= 1
    if mark == 0 {
      for index in marks.indices { marks[index] = 0 }
      mark = 1
    }
  }

  /// Adds the instructions that one leads to without consuming a scalar, up to assertions, to `found`.
  private mutating func follow(_ start: Int) {
    var instruction = start
    while true {
      if marks[instruction] != mark {
        marks[instruction] = mark
        switch program.instructions[instruction] {
        case .split(let one, let other):
          stack.append(other)
          instruction = one
          continue
        case .match: foundMatch = true
        case .scalar, .assertion: found.append(UInt32(truncatingIfNeeded: instruction))
        }
      }
      guard let next = stack.popLast() else { return }
      instruction = next
    }
  }
}

extension RegularExpressionSyntax.Assertion {
  /// Whether the assertion holds between two scalars of these kinds.
  func holds(between before: ScalarAlphabet.Kind, and after: ScalarAlphabet.Kind) -> Bool {
    switch self {
    case .textStart: before == .none
    case .textEnd: after == .none
    case .lineStart: before == .none || before == .newline
    case .lineEnd: after == .none || after == .newline
    case .wordBoundary: (before == .word) != (after == .word)
    case .notWordBoundary: (before == .word) == (after == .word)
    }
  }
}

extension RegularExpressionProgram {
  /// The kind of a class of scalars, as far as the program's assertions need it: fewer kinds make fewer
  /// states.
  func kindToRemember(_ number: Int) -> ScalarAlphabet.Kind {
    switch alphabet.kinds[number] {
    case .newline where usesLines: .newline
    case .word where usesWords: .word
    default: .other
    }
  }
}
