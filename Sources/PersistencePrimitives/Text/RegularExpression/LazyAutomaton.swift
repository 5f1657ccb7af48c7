/// A program's deterministic automaton, built lazily, state by state, and used by one call at a time.
///
/// A state is a set of instructions that a match may have reached, and the kind of the previous scalar if the
/// program has assertions. Its row in the table has the next state for each class of scalars. So a text costs
/// one table lookup per scalar once its states exist, and at most one pass over the program per scalar
/// before. A full table is cleared.
final class LazyAutomaton: @unchecked Sendable {  // one call at a time takes it from the pool
  /// Table entries that are not states.
  enum Outcome {
    static let unknown: Int32 = -1
    static let refused: Int32 = -2
    static let matched: Int32 = -3
  }

  /// The first columns of a row: the state's cost, and its result at the end of the text.
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

  private var steps: ProgramSteps

  init(_ program: RegularExpressionProgram) {
    self.program = program
    stride = program.alphabet.classCount + Self.classColumn
    steps = ProgramSteps(program)
  }

  /// Whether the program matches in the text; throws if the visited states have more instructions than the limit.
  func matches(_ text: UnsafeBufferPointer<UInt8>, stepLimit: Int) throws -> Bool {
    if firstState == Outcome.unknown { firstState = makeFirstState() }
    var state = firstState
    var position = 0
    var left = stepLimit
    var emptiedAt = 0
    while true {
      var column = Self.endColumn
      if state >= 0, position < text.count {
        column = run(text, &position, &state, &left)
      }
      if left < 0 { throw Self.stopped(at: position, stepLimit) }
      if state == Outcome.matched { return true }
      if state == Outcome.refused { return false }
      let known = table[Int(state) + column]
      if column == Self.endColumn {
        return (known == Outcome.unknown ? makeStep(from: Int(state), column) : known) == Outcome.matched
      }
      // `run` follows known steps, so this one is new.
      let emptyingsBefore = emptyings
      let stateCount = states.count
      state = makeStep(from: Int(state), column)
      if emptyings != emptyingsBefore {
        if state >= 0, position - emptiedAt < 10 * stateCount {
          return try simulate(from: states[Int(state) / stride], text, position, left, stepLimit)
        }
        emptiedAt = position
      }
    }
  }

  private static func stopped(at position: Int, _ stepLimit: Int) -> TextPatternError {
    TextPatternError(
      reason: "the pattern was stopped after \(stepLimit) steps on one text", position: position)
  }

  /// Follows known steps up to one that is unknown or leaves the automaton.
  /// - Returns: The column of the unknown step, or the end column at the end of the text.
  private func run(
    _ text: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ state: inout Int32, _ stepsLeft: inout Int
  ) -> Int {
    table.withUnsafeBufferPointer { table in
      program.alphabet.lowClasses.withUnsafeBufferPointer { lowClasses in
        guard let base = text.baseAddress else { return Self.endColumn }
        let end = text.count
        var index = position
        var row = state
        var left = stepsLeft
        defer {
          position = index
          state = row
          stepsLeft = left
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
    steps.begin()
    return rowForFound(before: program.usesAssertions ? .none : .other)
  }

  /// Computes one table entry, and stores it unless that cleared the table.
  private func makeStep(from row: Int, _ column: Int) -> Int32 {
    let source = states[row / stride]
    let isEnd = column == Self.endColumn
    let number = column - Self.classColumn
    let after: ScalarAlphabet.Kind = isEnd ? .none : program.alphabet.kinds[number]
    steps.reached = source.items
    let isMatch = steps.passAssertions(between: source.before, and: after)
    if isMatch || isEnd {
      let outcome = isMatch ? Outcome.matched : Outcome.refused
      table[row + column] = outcome
      return outcome
    }
    steps.take(number)
    let emptyingsBefore = emptyings
    let next = rowForFound(before: program.kindToRemember(number))
    if emptyings == emptyingsBefore { table[row + column] = next }
    return next
  }

  /// Continues without creating states, for texts that rarely return to one.
  private func simulate(
    from state: StateKey, _ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ stepsLeft: Int,
    _ stepLimit: Int
  ) throws -> Bool {
    guard let base = text.baseAddress else { return false }
    steps.reached = state.items
    var before = state.before
    var left = stepsLeft
    var position = start
    while position < text.count {
      left -= steps.reached.count
      if left < 0 { throw Self.stopped(at: position, stepLimit) }
      let (scalar, next) = ScalarCoding.decode(base, at: position, end: text.count)
      position = next
      let number = program.alphabet.classOf(scalar)
      if steps.passAssertions(between: before, and: program.alphabet.kinds[number]) { return true }
      steps.take(number)
      if steps.foundMatch { return true }
      if steps.found.isEmpty { return false }
      steps.continueFromFound()
      before = program.kindToRemember(number)
    }
    return steps.passAssertions(between: before, and: .none)
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

  /// The row of the state that `found` describes, created if it is new.
  private func rowForFound(before: ScalarAlphabet.Kind) -> Int32 {
    if steps.foundMatch { return Outcome.matched }
    if steps.found.isEmpty { return Outcome.refused }
    let key = StateKey(items: steps.found.sorted(), before: before)
    if let row = rowOf[key] { return row }
    if isFull { removeAllStates() }
    let row = Int32(truncatingIfNeeded: table.count)
    table.append(Int32(truncatingIfNeeded: key.items.count))
    table.append(contentsOf: repeatElement(Outcome.unknown, count: stride - 1))
    states.append(key)
    rowOf[key] = row
    itemCount += key.items.count
    return row
  }
}
