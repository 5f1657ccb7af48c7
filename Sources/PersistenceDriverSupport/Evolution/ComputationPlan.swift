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
    let compute: @Sendable ([PersistentValue]) throws -> [PersistentValue]
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
    steps.append(Step(inputs: inputs, compute: computation.compute))
    states[number] = .planned
    return nil
  }

  /// The function that computes fields from a stored row; nil if nothing is computed.
  func function(of fields: [String]) -> SchemaChange.Compute? {
    guard !steps.isEmpty else { return nil }
    let (steps, count) = (steps, count)
    let results = fields.map { places[StoredName($0)] }
    let isInOrder = results == (0..<count).map(Optional.some)
    return { row in
      var made: [PersistentValue] = []
      for step in steps {
        var inputs: [PersistentValue] = []
        inputs.reserveCapacity(step.inputs.count)
        for input in step.inputs {
          switch input {
          case .stored(let position): inputs.append(try row.value(at: position))
          case .made(let place): inputs.append(made[place])
          }
        }
        let values = try step.compute(inputs)
        made = made.isEmpty ? values : made + values
      }
      return isInOrder ? made : results.map { place in place.map { made[$0] } ?? .null }
    }
  }
}
