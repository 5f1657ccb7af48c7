import PersistenceCore
import PersistenceDriver

extension LayerCore {
  /// Answers from a lower layer if the top layer takes longer than the delay of the options.
  ///
  /// The query of the top layer continues and refreshes the replicas.
  func staleWhileRevalidate(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> Answer {
    typealias Outcome = Result<Answer, PersistenceError>
    let revalidation = Task { () async -> Outcome in
      do throws(PersistenceError) {
        return .success(try await self.answerFromTop(layerQuery))
      } catch {
        return .failure(error)
      }
    }
    let first = FirstOutcome<Outcome?>()
    let (clock, delay) = (options.clock, options.staleDelay)
    // Waiting for a task does not cancel it.
    first.start { .some(await revalidation.value) }
    first.start {
      do { try await clock.sleep(for: delay) } catch { return nil }
      return .some(nil)
    }
    guard let outcome = await first.value() else {
      revalidation.cancel()
      throw .cancelled()
    }
    if let outcome { return try await answer(outcome, layerQuery) }
    // The top layer is late. Its failure is not known yet, so a lower layer answers without one.
    for (layer, _) in replicas {
      do throws(PersistenceError) {
        if let answer = try await ask(layer, layerQuery) { return answer }
      } catch {
        if error.code == .cancelled {
          revalidation.cancel()
          throw error
        }
      }
    }
    let late = await withTaskCancellationHandler {
      await revalidation.value
    } onCancel: {
      revalidation.cancel()
    }
    return try await answer(late, layerQuery)
  }

  private func answer(
    _ outcome: Result<Answer, PersistenceError>, _ layerQuery: LayerQuery<Object>
  ) async throws(PersistenceError) -> Answer {
    switch outcome {
    case .success(let answer): return answer
    case .failure(let error): return try await answerFromBelow(layerQuery, after: error)
    }
  }
}
