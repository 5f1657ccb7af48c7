import PersistenceCore
import PersistenceDriver

/// Reads while own writes wait in the outbox.
extension LayerCore {
  /// The local object of a key that a waiting write changes; nil if none does.
  ///
  /// The top layer does not have the write yet, so there is no need to ask it.
  func ownWrite(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> Answer? {
    guard let outbox, let key = layerQuery.key, try await outbox.writes.layer.isWaiting(key) else {
      return nil
    }
    return try await ask(.local, layerQuery)
  }

  /// Sends the outbox before a read.
  ///
  /// The remote answer would otherwise lack this device's own writes.
  ///
  /// - Returns: Nil if no entry waits any more. Otherwise the error of the first one, if it concerns the entry or the
  ///   right to write: reading does not depend on these.
  /// - Throws: An error that shows that the remote layer is out of reach.
  func sendWaiting() async throws(PersistenceError) -> PersistenceError? {
    guard let outbox, try await outbox.count() > 0 else { return nil }
    let sender = outbox.sender
    do {
      try await attempts(top).once { () async throws(PersistenceError) in
        try await sender.sendAll(for: .read)
      }
      return nil
    } catch {
      if error.code == .cancelled { throw error }
      if error.isRetryable, try await !sender.isStuckAlone() { throw error }
      return error
    }
  }

  /// The answer of the local layer, which has the waiting writes beside the answer of the top layer that it has just
  /// stored.
  ///
  /// It throws the error of the outbox, which is one of the failures, if no layer has an answer.
  func answerWithWaiting(
    _ layerQuery: LayerQuery<Object>, _ failures: [LayerFailure]
  ) async throws(PersistenceError) -> Answer {
    var failures = failures
    var incompleteLayers: [DataSourceLayer] = []
    for (layer, _) in replicas {
      do throws(PersistenceError) {
        if var answer = try await ask(layer, layerQuery) {
          answer.failures = failures
          return answer
        }
        incompleteLayers.append(layer)
      } catch {
        if error.code == .cancelled { throw error }
        failures.append(LayerFailure(layer, error))
      }
    }
    return try await incomplete(layerQuery, failures, incompleteLayers)
  }
}
