#if HTTP
  import DataAccess
  import PersistenceCore
  import PersistenceDriver

  /// One connection for events, which opens when the first one is asked for.
  final class EventConnection<Object: PersistentRecord>: @unchecked Sendable {  // one task
    private let source: RemoteDataSource<Object>
    private let checkpoint: DataSourceCheckpoint?
    private var events: RemoteEvents?

    init(source: RemoteDataSource<Object>, _ checkpoint: DataSourceCheckpoint?) {
      (self.source, self.checkpoint) = (source, checkpoint)
    }

    func next() async throws(PersistenceError) -> ObjectChanges<Object>? {
      let schema = try RemoteRecord<Object>.schema()
      let events: RemoteEvents
      if let open = self.events {
        events = open
      } else {
        events = try await source.dialect.events(since: checkpoint?.text, schema)
        self.events = events
      }
      while let event = try await events.next() {
        // Later servers may send further kinds of events.
        guard event.name == "changes" || event.name == "reset" else { continue }
        var changes = try source.changes(event.json, schema)
        changes.isReset = event.name == "reset"
        return changes
      }
      return nil
    }
  }
#endif
