import PersistenceCore
import PersistenceDriver

extension LayerCore {
  /// How many changes of the top layer to store at a time.
  private static var changeLimit: Int { 200 }
  /// How often to store the same changes again when writes come in between.
  private static var missLimit: Int { 5 }

  /// The top layer, if it tells its changes.
  var changeSource: (any ChangeTrackingDataSource<Object>)? {
    replicas.isEmpty ? nil : topSource.base as? any ChangeTrackingDataSource<Object>
  }

  /// Stores the changes of the top layer since a checkpoint in the replicas.
  ///
  /// The changes come in an answer to a request of now, and not in the event that told of them: an event may be older than
  /// a write that was acknowledged in the meantime.
  ///
  /// - Returns: The checkpoint after them.
  func storeChanges(
    of source: some ChangeTrackingDataSource<Object>, since checkpoint: DataSourceCheckpoint,
    _ pause: inout RetryPause
  ) async throws(PersistenceError) -> DataSourceCheckpoint {
    var checkpoint = checkpoint
    var missed = 0
    while !Task.isCancelled {
      let reading = writes.beginReading(isOfTop: true, at: dates.now())
      let (versions, since) = (await versions(), checkpoint)
      // The changes may lack a write that is acknowledged while they are on their way.
      var hasWaiting = false
      if let outbox { hasWaiting = try await outbox.count() > 0 }
      let changes = try await attempts(top).run { () async throws(PersistenceError) in
        try await source.changes(since: since, limit: Self.changeLimit)
      }
      let keys = changes.saved.map(\.recordKey) + changes.deleted
      if !keys.isEmpty {
        let query = try mappingErrors { try LayerQuery<Object>(FetchOptions()) }
        var hasMissed = false
        for (part, version) in zip(replicas, versions) {
          guard let version, !hasWaiting || part.layer == .local else {
            // Only the local layer knows the waiting writes, which the changes lack.
            await part.replica.markStale(keys)
            continue
          }
          var refresh = Refresh(
            query, changes.saved, asOf: reading.asOf, version: version,
            WriteOrder(reading, in: writes, for: part.layer))
          refresh.changedKeys = keys
          do throws(PersistenceError) {
            if try await part.replica.refresh(refresh) { continue }
            if missed < Self.missLimit { hasMissed = true } else { await part.replica.markStale(keys) }
          } catch {
            await part.replica.markStale(keys)
          }
        }
        // A write in flight or another answer came in between; the same changes again do no harm.
        missed = hasMissed ? missed + 1 : 0
        if hasMissed {
          guard await pause.wait() else { throw .cancelled() }
          continue
        }
      }
      checkpoint = changes.checkpoint
      if !changes.hasMore { break }
    }
    return checkpoint
  }

  /// The versions of the replicas; nil for those that cannot tell.
  private func versions() async -> [ReplicaVersion?] {
    var versions: [ReplicaVersion?] = []
    for (layer, replica) in replicas {
      do throws(PersistenceError) {
        versions.append(
          try await attempts(layer).run { () async throws(PersistenceError) in try await replica.version() })
      } catch {
        versions.append(nil)
      }
    }
    return versions
  }

  /// The answer to a query after a change that the replicas have.
  func changedAnswer(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> Answer {
    for (layer, _) in replicas {
      do throws(PersistenceError) {
        if let answer = try await ask(layer, layerQuery) { return answer }
      } catch {
        if error.code == .cancelled { throw error }
      }
    }
    return try await newestAnswer(layerQuery)
  }

  /// The answer to a query from the top layer, or a complete one of another layer.
  func newestAnswer(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> Answer {
    let answer = try await answer(layerQuery, .upToDateWithFallback)
    if answer.isComplete || options.acceptsIncompleteAnswers { return answer }
    throw .noAnswer(answer.failures, incompleteLayers: [answer.source])
  }
}
