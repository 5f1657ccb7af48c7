import PersistenceCore
import PersistenceDriver

extension LayerCore {
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
      return try await countInTop(layerQuery, query)
    } catch {
      var (answer, failures, incompleteLayers) = try await fallBack(layerQuery, after: error)
      if let answer { return answer.value.count }
      if breaker.isRefusal(error) {
        do throws(PersistenceError) {
          return try await countInTop(layerQuery, query, isLastResort: true)
        } catch {
          guard error.allowsFallback else { throw error }
          failures[0] = LayerFailure(top, error)
        }
      }
      throw .noAnswer(failures, incompleteLayers: incompleteLayers)
    }
  }

  private func countInTop(
    _ layerQuery: LayerQuery<Object>, _ query: FetchOptions<Object>, isLastResort: Bool = false
  ) async throws(PersistenceError) -> Int {
    try await unlessPaused(isLastResort) { () async throws(PersistenceError) in
      let count = try await inTime { () async throws(PersistenceError) -> Int? in
        // The number in the top layer would lack the waiting writes.
        if try await self.sendWaiting() != nil { return nil }
        let source = self.topSource
        return try await self.attempts(self.top).run { () async throws(PersistenceError) in
          try await source.count(query)
        }
      }
      if let count { return count }
      let answer = try await answerFromReachableTop(layerQuery)
      guard answer.isComplete else { throw .noAnswer(answer.failures, incompleteLayers: [answer.source]) }
      return answer.value.count
    }
  }
}
