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
    if replicas.isEmpty {
      let objects = try await queryTop(layerQuery)
      return Answer(objects, from: top, age: .zero)
    }
    if !isLastResort, let refusal = breaker.refusal(at: options.now()) { throw refusal }
    do throws(PersistenceError) {
      let answer = try await answerFromReachableTop(layerQuery)
      breaker.record(nil, at: options.now())
      return answer
    } catch {
      breaker.record(error, at: options.now())
      throw error
    }
  }

  private func answerFromReachableTop(
    _ layerQuery: LayerQuery<Object>
  ) async throws(PersistenceError) -> Answer {
    if let own = try await ownWrite(layerQuery) { return own }
    // Starts before the outbox check: later entries are newer than the answer.
    let reading = writes.beginReading(isOfTop: true, at: options.now())
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
    let blocked = try await sendWaiting()
    let objects = try await queryTop(layerQuery)
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
      try await attempts(layer).run { () async throws(PersistenceError) in try await replica.refresh(refresh)
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
    let reading = writes.beginReading(isOfTop: false, at: options.now())
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
      if try cache.answerNow(layerQuery) == nil { try await cache.refresh(refresh) }
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

  /// The answer of a lower layer, complete or not; that of a paused top layer if there is none.
  func answerFromBelow(
    _ layerQuery: LayerQuery<Object>, after error: PersistenceError
  ) async throws(PersistenceError) -> Answer {
    let (answer, failures, incompleteLayers) = try await fallBack(layerQuery, after: error)
    if let answer { return answer }
    if breaker.refusal(at: options.now())?.message == error.message {
      do throws(PersistenceError) {
        return try await answerFromTop(layerQuery, isLastResort: true)
      } catch {
        guard error.allowsFallback else { throw error }
        return try await incomplete(layerQuery, [LayerFailure(top, error)], incompleteLayers)
      }
    }
    return try await incomplete(layerQuery, failures, incompleteLayers)
  }

  /// Queries the replicas in turn, if the error of the top layer allows a fallback.
  private func fallBack(
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

  /// A partial answer if no layer has a complete one.
  ///
  /// Throws if there is none.
  func incomplete(
    _ layerQuery: LayerQuery<Object>, _ failures: [LayerFailure], _ incompleteLayers: [DataSourceLayer]
  ) async throws(PersistenceError) -> Answer {
    if Task.isCancelled { throw .cancelled() }
    var failures = failures
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

  // MARK: Counting

  /// The number of objects that match.
  ///
  /// The top layer counts without returning objects, so its answer does not refresh the replicas.
  func count(_ layerQuery: LayerQuery<Object>, _ query: FetchOptions<Object>) async throws(PersistenceError)
    -> Int
  {
    if Task.isCancelled { throw .cancelled() }
    if options.strategy == .fastestAvailable, let answer = try answerFromCache(layerQuery) {
      return answer.value.count
    }
    do throws(PersistenceError) {
      if try await sendWaiting() != nil {
        // The number in the top layer would lack the waiting writes.
        let answer = try await answerFromTop(layerQuery)
        guard answer.isComplete else { throw .noAnswer(answer.failures, incompleteLayers: [answer.source]) }
        return answer.value.count
      }
      let source = topSource
      return try await attempts(top).run { () async throws(PersistenceError) in try await source.count(query)
      }
    } catch {
      let (answer, failures, incompleteLayers) = try await fallBack(layerQuery, after: error)
      guard let answer else { throw .noAnswer(failures, incompleteLayers: incompleteLayers) }
      return answer.value.count
    }
  }
}
