import PersistenceDriver
import PersistencePrimitives

/// The computations of a change, each after those that make its sources (contract S7).
struct ComputationPlan {
  private enum Input {
    /// The value of a stored field.
    case stored(Int)
    /// The value at a place among the results of all computations.
    case made(Int)
  }

  private struct Step {
    let inputs: [Input]
    /// The number of its results.
    let count: Int
    let compute: ModelDeclaration.Computation.Compute

    /// Computes values from a stored row and the results of earlier steps.
    func run(_ stored: borrowing Row, _ made: RowBuffer, into values: RowBuffer) throws {
      try withUnsafeTemporaryAllocation(of: RowCell.self, capacity: inputs.count) { cells in
        for (number, input) in inputs.enumerated() {
          switch input {
          case .stored(let position): cells.initializeElement(at: number, to: try stored.field(at: position))
          case .made(let place): cells.initializeElement(at: number, to: made.storage[place])
          }
        }
        try compute(Row(cells: UnsafeBufferPointer(cells)), values)
      }
    }
  }

  private enum State {
    case planning, planned
    /// The source that neither the store nor another computation has.
    case refused(String)
  }

  private let computations: [ModelDeclaration.Computation]
  private var states: [Int: State] = [:]
  private var steps: [Step] = []
  private var count = 0
  /// The places of computed fields among the results of all computations.
  private var places: [StoredName: Int] = [:]
  /// The stored positions that computations read.
  private(set) var storedSources: Set<Int> = []

  init(_ computations: [ModelDeclaration.Computation]) { self.computations = computations }

  /// Whether a computation makes a field.
  func makes(_ field: String) -> Bool { computations.contains { $0.fields.containsName(field) } }

  /// Adds the first computation of a field whose sources exist, after those that make its sources.
  ///
  /// - Returns: The source that neither the store nor another computation has; nil if there is none.
  mutating func add(_ field: String, _ resolver: FieldResolver) -> String? {
    var refusal: String?
    for number in computations.indices where computations[number].fields.containsName(field) {
      guard let missing = add(number, resolver) else { return nil }
      refusal = refusal ?? missing
    }
    return refusal ?? field
  }

  private mutating func add(_ number: Int, _ resolver: FieldResolver) -> String? {
    let computation = computations[number]
    switch states[number] {
    case .planned: return nil
    case .refused(let source): return source
    case .planning: return computation.fields.first  // it would be its own source
    case nil: states[number] = .planning
    }
    var inputs: [Input] = []
    for source in computation.sources {
      switch resolver.origin(of: source) {
      case .stored(let position): inputs.append(.stored(position))
      case .absent(let name):
        let missing = makes(name) ? add(name, resolver) : source
        guard missing == nil, let place = places[StoredName(name)] else {
          states[number] = .refused(missing ?? source)
          return missing ?? source
        }
        inputs.append(.made(place))
      }
    }
    for case .stored(let position) in inputs { storedSources.insert(position) }
    for (offset, field) in computation.fields.enumerated() {
      let name = StoredName(field)
      if places[name] == nil { places[name] = count + offset }
    }
    count += computation.fields.count
    steps.append(Step(inputs: inputs, count: computation.fields.count, compute: computation.compute))
    states[number] = .planned
    return nil
  }

  /// The function that computes fields from a stored row; nil if nothing is computed.
  func function(of fields: [String]) -> SchemaChange.Compute? {
    guard !steps.isEmpty else { return nil }
    let (steps, count) = (steps, count)
    let results = fields.map { places[StoredName($0)] }
    if steps.count == 1, let step = steps.first, results == (0..<count).map(Optional.some) {
      return { row, values in try step.run(row, values, into: values) }
    }
    return { row, values in
      let made = RowBuffer(count: count)
      var place = 0
      for step in steps {
        let results = RowBuffer(count: step.count)
        try step.run(row, made, into: results)
        for number in 0..<step.count { made.setCopy(of: results.storage[number], at: place + number) }
        place += step.count
      }
      for (position, place) in results.enumerated() {
        if let place { values.setCopy(of: made.storage[place], at: position) }
      }
    }
  }
}
