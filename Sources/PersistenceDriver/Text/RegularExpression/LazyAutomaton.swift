/// A program's deterministic automaton, built state by state as texts ask for it, and used by one call at a
/// time.
///
/// A state is the set of instructions that a match may stand at, and (where the program has conditions) the
/// kind of the scalar before. Its row in the table gives the state after each class of scalars. So a text
/// costs one table look-up for each scalar once its states are known, and at most one pass over the program
/// for each scalar before that. When the table is full it is emptied and begun again.
final class LazyAutomaton: @unchecked Sendable {  // reason: only one call holds it at a time, out of the pool
  /// Entries of the table that name no state.
  enum Outcome {
    static let unknown: Int32 = -1
    static let refused: Int32 = -2
    static let matched: Int32 = -3
  }

  /// The first columns of a row: the state's cost, and what the end of the text makes of it.
  private static let costColumn = 0
  static let endColumn = 1
  static let classColumn = 2

  private static let largestTable = 1 << 17
  private static let mostItems = 1 << 18

  private struct StateKey: Hashable {
    let items: [UInt32]
    let before: ScalarAlphabet.Kind
  }

  private let program: RegularExpressionProgram
  private let stride: Int
  private var table: [Int32] = []
  private var states: [StateKey] = []
  private var rowOf: [StateKey: Int32] = [:]
  private var itemCount = 0
  private var emptyings = 0
  private var firstState = Outcome.unknown

  // What a step works with; kept to save their memory.
  private var marks: [UInt32]
  private var mark: UInt32 = 0
  private var stack: [Int] = []
  private var found: [UInt32] = []
  private var foundMatch = false
  private var reached: [UInt32] = []

  init(_ program: RegularExpressionProgram) {
    self.program = program
    stride = program.alphabet.classCount + Self.classColumn
    marks = [UInt32](repeating: 0, count: program.instructions.count)
  }

  /// Whether the program matches somewhere in the text.
  /// - Throws: ``TextPatternError`` when the states passed through add up to more than `stepLimit`
  ///   instructions.
  func matches(_ text: UnsafeBufferPointer<UInt8>, stepLimit: Int) throws -> Bool {
    if firstState == Outcome.unknown { firstState = makeFirstState() }
    var state = firstState
    var position = 0
    var steps = stepLimit
    var emptiedAt = 0
    while true {
      var column = Self.endColumn
      if state >= 0, position < text.count {
        column = run(text, &position, &state, &steps)
      }
      if steps < 0 { throw Self.stopped(at: position, stepLimit) }
      if state == Outcome.matched { return true }
      if state == Outcome.refused { return false }
      let known = table[Int(state) + column]
      if column == Self.endColumn {
        return (known == Outcome.unknown ? makeStep(from: Int(state), column) : known) == Outcome.matched
      }
      // A known step is followed by `run`, so this one is new.
      let emptyingsBefore = emptyings
      let stateCount = states.count
      state = makeStep(from: Int(state), column)
      if emptyings != emptyingsBefore {
        if state >= 0, position - emptiedAt < 10 * stateCount {
          return try simulate(from: states[Int(state) / stride], text, position, steps, stepLimit)
        }
        emptiedAt = position
      }
    }
  }

  private static func stopped(at position: Int, _ stepLimit: Int) -> TextPatternError {
    TextPatternError(
      reason: "the pattern was stopped after \(stepLimit) steps on one text", position: position)
  }

  /// Follows known steps, up to one that is not known yet or leaves the automaton.
  /// - Returns: The column of the step that is not known; the end's where the text is at its end.
  private func run(
    _ text: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ state: inout Int32, _ steps: inout Int
  ) -> Int {
    table.withUnsafeBufferPointer { table in
      program.alphabet.lowClasses.withUnsafeBufferPointer { lowClasses in
        guard let base = text.baseAddress else { return Self.endColumn }
        let end = text.count
        var index = position
        var row = state
        var left = steps
        defer {
          position = index
          state = row
          steps = left
        }
        while index < end {
          left &-= Int(table[Int(row)])
          if left < 0 { return Self.endColumn }
          let byte = base[index]
          var number = Int(lowClasses[Int(byte)])
          if byte < 0x80 {
            index &+= 1
          } else {
            let (scalar, after) = ScalarCoding.decode(base, at: index, end: end)
            number =
              scalar < lowClasses.count ? Int(lowClasses[Int(scalar)]) : program.alphabet.classOf(scalar)
            index = after
          }
          let column = number &+ Self.classColumn
          let next = table[Int(row) &+ column]
          if next < 0 {
            if next == Outcome.unknown { return column }
            row = next
            return Self.endColumn
          }
          row = next
        }
        return Self.endColumn
      }
    }
  }
}

// MARK: Building states

extension LazyAutomaton {
  private func makeFirstState() -> Int32 {
    beginSet()
    follow(program.start)
    return rowForFound(before: program.usesAssertions ? .none : .other)
  }

  /// Works out one entry of the table, and writes it down unless that emptied the table.
  private func makeStep(from row: Int, _ column: Int) -> Int32 {
    let source = states[row / stride]
    let number = column - Self.classColumn
    let isEnd = column == Self.endColumn
    reached = source.items
    if program.usesAssertions {
      let after: ScalarAlphabet.Kind = isEnd ? .none : program.alphabet.kinds[number]
      guard passAssertions(between: source.before, and: after) else {
        table[row + column] = Outcome.matched
        return Outcome.matched
      }
    }
    if isEnd {
      table[row + column] = Outcome.refused
      return Outcome.refused
    }
    take(number)
    let emptyingsBefore = emptyings
    let next = rowForFound(before: kindToRemember(number))
    if emptyings == emptyingsBefore { table[row + column] = next }
    return next
  }

  /// Makes `found` the instructions that `reached` leads to by taking a scalar of a class.
  private func take(_ number: Int) {
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

  /// Goes on without making states, for texts that hardly ever come back to one.
  private func simulate(
    from state: StateKey, _ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ stepsLeft: Int,
    _ stepLimit: Int
  ) throws -> Bool {
    guard let base = text.baseAddress else { return false }
    reached = state.items
    var before = state.before
    var steps = stepsLeft
    var position = start
    while position < text.count {
      steps -= reached.count
      if steps < 0 { throw Self.stopped(at: position, stepLimit) }
      let (scalar, next) = ScalarCoding.decode(base, at: position, end: text.count)
      position = next
      let number = program.alphabet.classOf(scalar)
      if program.usesAssertions,
        !passAssertions(between: before, and: program.alphabet.kinds[number])
      {
        return true
      }
      take(number)
      if foundMatch { return true }
      if found.isEmpty { return false }
      swap(&reached, &found)
      before = kindToRemember(number)
    }
    return program.usesAssertions && !passAssertions(between: before, and: .none)
  }

  /// Adds to `reached` what can be reached through the conditions that hold at this place.
  /// - Returns: False where that includes the match.
  private func passAssertions(
    between before: ScalarAlphabet.Kind, and after: ScalarAlphabet.Kind
  ) -> Bool {
    beginSet()
    for item in reached { marks[Int(item)] = mark }
    var index = 0
    while index < reached.count {
      if case .assertion(let assertion, let next) = program.instructions[Int(reached[index])],
        holds(assertion, between: before, and: after)
      {
        found.removeAll(keepingCapacity: true)
        follow(next)
        reached += found
        if foundMatch { return false }
      }
      index += 1
    }
    return true
  }

  private func holds(
    _ assertion: RegularExpressionSyntax.Assertion, between before: ScalarAlphabet.Kind,
    and after: ScalarAlphabet.Kind
  ) -> Bool {
    switch assertion {
    case .textStart: before == .none
    case .textEnd: after == .none
    case .lineStart: before == .none || before == .newline
    case .lineEnd: after == .none || after == .newline
    case .wordBoundary: (before == .word) != (after == .word)
    case .notWordBoundary: (before == .word) == (after == .word)
    }
  }

  /// The kind of a scalar, as far as the program's conditions ask for it; fewer kinds make fewer states.
  private func kindToRemember(_ number: Int) -> ScalarAlphabet.Kind {
    switch program.alphabet.kinds[number] {
    case .newline where program.usesLines: .newline
    case .word where program.usesWords: .word
    default: .other
    }
  }

  private func beginSet() {
    foundMatch = false
    found.removeAll(keepingCapacity: true)
    mark &+= 1
    if mark == 0 {
      for index in marks.indices { marks[index] = 0 }
      mark = 1
    }
  }

  /// Adds to `found` what an instruction leads to without taking a scalar, up to conditions.
  private func follow(_ instruction: Int) {
    stack.append(instruction)
    while let instruction = stack.popLast() {
      guard marks[instruction] != mark else { continue }
      marks[instruction] = mark
      switch program.instructions[instruction] {
      case .split(let one, let other):
        stack.append(other)
        stack.append(one)
      case .match:
        foundMatch = true
      case .scalar, .assertion:
        found.append(UInt32(truncatingIfNeeded: instruction))
      }
    }
  }

  private var isFull: Bool {
    table.count + stride > max(Self.largestTable, 8 * stride) || itemCount > Self.mostItems
  }

  private func removeAllStates() {
    table.removeAll(keepingCapacity: true)
    states.removeAll(keepingCapacity: true)
    rowOf.removeAll(keepingCapacity: true)
    itemCount = 0
    firstState = Outcome.unknown
    emptyings &+= 1
  }

  /// The row of the state that `found` describes, made where it is new.
  private func rowForFound(before: ScalarAlphabet.Kind) -> Int32 {
    if foundMatch { return Outcome.matched }
    if found.isEmpty { return Outcome.refused }
    found.sort()
    let key = StateKey(items: found, before: before)
    if let row = rowOf[key] { return row }
    if isFull { removeAllStates() }
    let row = Int32(truncatingIfNeeded: table.count)
    table.append(Int32(truncatingIfNeeded: found.count))
    table.append(contentsOf: repeatElement(Outcome.unknown, count: stride - 1))
    states.append(key)
    rowOf[key] = row
    itemCount += found.count
    return row
  }
}
