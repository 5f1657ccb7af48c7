/// One step of a program over one scalar, for all the instructions at once that a match may stand at.
struct ProgramSteps {
  private let program: RegularExpressionProgram

  /// The instructions that a match may stand at before the step: those that take a scalar, and conditions.
  var reached: [UInt32] = []

  /// The same after the step, in no particular order.
  var found: [UInt32] = []

  /// Whether the match is among what was found.
  private(set) var foundMatch = false

  /// Which instructions were visited for the current set: those that bear the current mark.
  private var marks: [UInt32]
  private var mark: UInt32 = 0
  private var stack: [Int] = []

  init(_ program: RegularExpressionProgram) {
    self.program = program
    marks = [UInt32](repeating: 0, count: program.instructions.count)
  }

  /// Makes what was found the beginning of the next step.
  mutating func continueFromFound() { swap(&reached, &found) }

  /// Makes `found` the instructions at which the program begins.
  mutating func begin() {
    beginSet()
    follow(program.start)
  }

  /// Makes `found` the instructions that `reached` leads to by taking a scalar of a class.
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

  /// Adds to `reached` what can be reached through the conditions that hold at this place.
  /// - Returns: Whether that includes the match.
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

  /// Adds to `found` what an instruction leads to without taking a scalar, up to conditions.
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
        case .match:
          foundMatch = true
        case .scalar, .assertion:
          found.append(UInt32(truncatingIfNeeded: instruction))
        }
      }
      guard let next = stack.popLast() else { return }
      instruction = next
    }
  }
}

extension RegularExpressionSyntax.Assertion {
  /// Whether the condition holds between two scalars of these kinds.
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
  /// The kind of a class of scalars, as far as the program's conditions ask for it; fewer kinds make fewer
  /// states.
  func kindToRemember(_ number: Int) -> ScalarAlphabet.Kind {
    switch alphabet.kinds[number] {
    case .newline where usesLines: .newline
    case .word where usesWords: .word
    default: .other
    }
  }
}
