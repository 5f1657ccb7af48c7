import Foundation
import PersistenceCore
import PersistenceDriver

extension LayerCore {
  typealias Answer = LayeredAnswer<[Object]>

  // MARK: Single layer

  /// Queries the top layer and refreshes the replicas with its answer.
  ///
  /// `isLastResort` is true if no lower layer has an answer, so that the layer is called in its pause too.
  func answerFromTop(
    _ layerQuery: LayerQuery<Object>, isLastResort: Bool = false
  ) async throws(PersistenceError) -> Answer {
    try await unlessPaused(isLastResort) { () async throws(PersistenceError) in
      if !replicas.isEmpty { return try await answerFromReachableTop(layerQuery) }
      let objects = try await inTime { () async throws(PersistenceError) in
        try await self.queryTop(layerQuery)
      }
      return Answer(objects, from: top, age: .zero)
    }
  }

  /// Reads the top layer unless it is in its pause, which its failure starts and its success ends.
  func unlessPaused<Value>(
    _ isLastResort: Bool, _ read: () async throws(PersistenceError) -> Value
  ) async throws(PersistenceError) -> Value {
    if !isLastResort, !replicas.isEmpty, let refusal = breaker.refusal(at: dates.now()) { throw refusal }
    do throws(PersistenceError) {
      let value = try await read()
      breaker.close()
      return value
    } catch {
      breaker.record(error, at: dates.now())
      throw error
    }
  }

  /// Runs the calls of the top layer that one read makes, within its deadline.
  func inTime<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(PersistenceError) -> Value
  ) async throws(PersistenceError) -> Value {
    let total = LayerLimits(timeout: options.limits(of: top).deadline)
    return try await Attempts(layer: top, limits: total, clock: options.clock).once(body)
  }

  func answerFromReachableTop(
    _ layerQuery: LayerQuery<Object>
  ) async throws(PersistenceError) -> Answer {
    if let own = try await ownWrite(layerQuery) { return own }
    // Starts before the outbox check: later entries are newer than the answer.
    let reading = writes.beginReading(isOfTop: true, at: dates.now())
    var versions: [ReplicaVersion?] = []
    var failures: [LayerFailure] = []
    for (layer, replica) in replicas {
      do throws(PersistenceError) {
        versions.append(
          try await attempts(layer).run { () async throws(PersistenceError) in try await replica.version() })
      } catch {
        versions.append(nil)
        failures.append(LayerFailure(layer, error))
      }
    }
    let (blocked, objects) = try await inTime { () async throws(PersistenceError) in
      let blocked = try await self.sendWaiting()
      reading.ask()
      return (blocked, try await self.queryTop(layerQuery))
    }
    // The answer lacks waiting writes, which only the local layer keeps.
    for (number, part) in replicas.enumerated() where blocked == nil || part.layer == .local {
      guard let version = versions[number] else { continue }
      let refresh = Refresh(
        layerQuery.answered(by: topSource), objects, asOf: reading.asOf, version: version,
        WriteOrder(reading, in: writes, for: part.layer))
      if let failure = await self.refresh(part.layer, part.replica, with: refresh) {
        failures.append(failure)
      }
    }
    guard let blocked else { return Answer(objects, from: top, age: .zero, failures: failures) }
    return try await answerWithWaiting(layerQuery, failures + [LayerFailure(top, blocked)])
  }

  private func queryTop(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> [Object] {
    let source = topSource
    return try await attempts(top).run { () async throws(PersistenceError) in try await layerQuery.ask(source)
    }
  }

  private func refresh(
    _ layer: DataSourceLayer, _ replica: any ReplicaLayer<Object>, with refresh: Refresh<Object>
  ) async -> LayerFailure? {
    do throws(PersistenceError) {
      _ = try await attempts(layer).run { () async throws(PersistenceError) in
        try await replica.refresh(refresh)
      }
      return nil
    } catch {
      return LayerFailure(layer, error)
    }
  }

  /// Queries a replica; nil unless its answer is complete and current.
  func ask(_ layer: DataSourceLayer, _ layerQuery: LayerQuery<Object>) async throws(PersistenceError)
    -> Answer?
  {
    guard let replica = replica(layer) else { return nil }
    // Starts before the query, so that a concurrent write counts as newer.
    let reading = writes.beginReading(isOfTop: false, at: dates.now())
    let cache = layer == .cache ? nil : self.cache
    let version = try await cache?.version()
    let held = try await attempts(layer).run { () async throws(PersistenceError) in
      try await replica.answer(layerQuery)
    }
    guard let held else { return nil }
    if let cache, let version, let asOf = held.asOf {
      // The cache adopts the answer with its age.
      let refresh = Refresh(
        layerQuery, held.objects, asOf: asOf, version: version, WriteOrder(reading, in: writes, for: .cache))
      if try cache.answerNow(layerQuery) == nil { _ = try await cache.refresh(refresh) }
    }
    return Answer(held.objects, from: layer, age: age(of: held.asOf))
  }

  /// The answer of the cache, without suspending, if it is fresh enough.
  func answerFromCache(_ layerQuery: LayerQuery<Object>) throws(PersistenceError) -> Answer? {
    guard let cache, let held = try cache.answerNow(layerQuery) else { return nil }
    let answer = Answer(held.objects, from: .cache, age: age(of: held.asOf))
    return isGood(answer) ? answer : nil
  }

  /// Whether an answer is within its layer's maximum age.
  func isGood(_ answer: Answer) -> Bool {
    guard let limit = options.limits(of: answer.source).maximumAge else { return true }
    guard let age = answer.age else { return false }
    return age <= limit
  }

  // MARK: Strategies

  func answer(_ layerQuery: LayerQuery<Object>, _ strategy: RetrievalStrategy) async throws(PersistenceError)
    -> Answer
  {
    if Task.isCancelled { throw .cancelled() }
    if replicas.isEmpty { return try await answerFromTop(layerQuery) }
    switch strategy {
    case .fastestAvailable: return try await fastest(layerQuery)
    case .upToDateWithFallback, .returnMultipleTimes: return try await upToDate(layerQuery)
    case .staleWhileRevalidate: return try await staleWhileRevalidate(layerQuery)
    }
  }

  private func upToDate(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> Answer {
    do {
      return try await answerFromTop(layerQuery)
    } catch {
      return try await answerFromBelow(layerQuery, after: error)
    }
  }

  /// The answer of a lower layer, complete or not.
  func answerFromBelow(
    _ layerQuery: LayerQuery<Object>, after error: PersistenceError
  ) async throws(PersistenceError) -> Answer {
    let (answer, failures, incompleteLayers) = try await fallBack(layerQuery, after: error)
    if let answer { return answer }
    return try await incomplete(layerQuery, failures, incompleteLayers)
  }

  /// Queries the replicas in turn, if the error of the top layer allows a fallback.
  func fallBack(
    _ layerQuery: LayerQuery<Object>, after error: PersistenceError
  ) async throws(PersistenceError) -> (
    answer: Answer?, failures: [LayerFailure], incompleteLayers: [DataSourceLayer]
  ) {
    guard error.allowsFallback else { throw error }
    var failures = [LayerFailure(top, error)]
    var incompleteLayers: [DataSourceLayer] = []
    for (layer, _) in replicas {
      do throws(PersistenceError) {
        if var answer = try await ask(layer, layerQuery) {
          answer.failures = failures
          return (answer, failures, incompleteLayers)
        }
        incompleteLayers.append(layer)
      } catch {
        if error.code == .cancelled { throw error }
        failures.append(LayerFailure(layer, error))
      }
    }
    return (nil, failures, incompleteLayers)
  }

  private func fastest(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> Answer {
    if let answer = try answerFromCache(layerQuery) { return answer }
    let race = LayerRace(self, layerQuery)
    defer { race.stop() }
    var failures: [LayerFailure] = []
    var incompleteLayers: [DataSourceLayer] = []
    var old: Answer?
    while let (layer, outcome) = await race.next() {
      switch outcome {
      case .success(var answer?):
        if isGood(answer) {
          answer.failures += failures
          return answer
        }
        // A stale answer is better than none.
        if let other = old, let age = other.age, age <= answer.age ?? .seconds(1 << 40) { continue }
        old = answer
      case .success(nil): incompleteLayers.append(layer)
      case .failure(let error):
        // The query is invalid; no other layer can answer it.
        if layer == top, !error.allowsFallback { throw error }
        failures.append(LayerFailure(layer, error))
      }
    }
    if Task.isCancelled { throw .cancelled() }
    if var old {
      old.failures = failures
      return old
    }
    return try await incomplete(layerQuery, failures, incompleteLayers)
  }

  /// The answer if no layer has a complete one: that of a top layer in its pause, or else a partial one.
  ///
  /// Throws if there is none.
  func incomplete(
    _ layerQuery: LayerQuery<Object>, _ failures: [LayerFailure], _ incompleteLayers: [DataSourceLayer]
  ) async throws(PersistenceError) -> Answer {
    if Task.isCancelled { throw .cancelled() }
    var failures = failures
    if let number = failures.firstIndex(where: { $0.layer == top && breaker.isRefusal($0.error) }) {
      do throws(PersistenceError) {
        return try await answerFromTop(layerQuery, isLastResort: true)
      } catch {
        guard error.allowsFallback else { throw error }
        failures[number] = LayerFailure(top, error)
      }
    }
    // A look-up by key has no partial answer, and a stale object must not be returned.
    if case .query = layerQuery.kind {
      for (layer, replica) in replicas where !failures.contains(where: { $0.layer == layer }) {
        do throws(PersistenceError) {
          let held = try await attempts(layer).run { () async throws(PersistenceError) in
            try await replica.partialObjects(for: layerQuery)
          }
          if !held.isEmpty {
            return Answer(held, from: layer, age: nil, isComplete: false, failures: failures)
          }
        } catch {
          failures.append(LayerFailure(layer, error))
        }
      }
    }
    throw .noAnswer(failures, incompleteLayers: incompleteLayers)
  }

  /// The answer for callers that cannot receive a partial one.
  func completeAnswer(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> [Object] {
    let answer = try await answer(layerQuery, options.strategy)
    if answer.isComplete || options.acceptsIncompleteAnswers { return answer.value }
    throw .noAnswer(answer.failures, incompleteLayers: [answer.source])
  }
}
