import PersistenceCore
import PersistenceDriver

/// Iterates over the answers of a race, and keeps those that improve on the last one.
final class AnswerIterator<Object: PersistentRecord>: @unchecked Sendable {  // one task at a time asks
  private let core: LayerCore<Object>
  private let layerQuery: LayerQuery<Object>
  private var race: LayerRace<Object>?
  private var last: LayeredAnswer<[Object]>?
  private var failures: [LayerFailure] = []
  private var incompleteLayers: [DataSourceLayer] = []
  private var isOver = false

  init(_ core: LayerCore<Object>, _ layerQuery: LayerQuery<Object>) {
    (self.core, self.layerQuery) = (core, layerQuery)
  }

  func next() async throws(PersistenceError) -> LayeredAnswer<[Object]>? {
    if isOver { return nil }
    let race = race ?? LayerRace(core, layerQuery)
    self.race = race
    while let (layer, outcome) = await race.next() {
      switch outcome {
      case .success(let answer?):
        if let answer = try mappingErrors({ try better(answer) }) { return answer }
      case .success(nil): incompleteLayers.append(layer)
      case .failure(let error): failures.append(LayerFailure(layer, error))
      }
    }
    isOver = true
    self.race = nil
    if Task.isCancelled { throw .cancelled() }
    guard let failure = failures.first(where: { $0.layer == core.top }) else { return nil }
    guard last == nil, failure.error.allowsFallback else { throw failure.error }
    // No layer is complete: return a partial answer last, and throw the error at the next call.
    let answer = try await core.incomplete(layerQuery, failures, incompleteLayers)
    // The top layer was in its pause, and has answered after all.
    if answer.source == core.top { return answer }
    isOver = false
    last = answer
    self.race = race
    return answer
  }

  /// The answer, if its layer is better than that of the last answer and its value differs.
  private func better(_ answer: LayeredAnswer<[Object]>) throws -> LayeredAnswer<[Object]>? {
    var answer = answer
    guard let last else {
      answer.failures += failures
      self.last = answer
      return answer
    }
    guard Self.rank(answer.source) > Self.rank(last.source) else { return nil }
    self.last = answer
    if try Self.isSame(answer.value, last.value) { return nil }
    answer.failures += failures
    return answer
  }

  private static func rank(_ layer: DataSourceLayer) -> Int {
    DataSourceLayer.allCases.firstIndex(of: layer) ?? 0
  }

  private static func isSame(_ left: [Object], _ right: [Object]) throws -> Bool {
    guard left.count == right.count else { return false }
    return try zip(left, right).allSatisfy { try $0.hasSameFields(as: $1) }
  }
}
