import PersistenceDriver

/// One iteration over the changes of a data source, which connects again when it loses its connection.
final class ChangeFollower<Source: ChangeTrackingDataSource>: @unchecked Sendable {  // one task
  private let source: Source
  private let options: FollowingOptions
  private var checkpoint: DataSourceCheckpoint?
  private var events: SequenceIterator<DataSourceStream<ObjectChanges<Source.Object>>>?
  private var pause: RetryPause
  /// Whether changes before the next event are unknown.
  private var isReset = false

  init(_ source: Source, since checkpoint: DataSourceCheckpoint?, _ options: FollowingOptions) {
    (self.source, self.checkpoint, self.options) = (source, checkpoint, options)
    pause = RetryPause(options)
  }

  @Sendable
  func next() async throws(PersistenceError) -> ObjectChanges<Source.Object>? {
    while !Task.isCancelled {
      let events = self.events ?? SequenceIterator(source.changeEvents(since: checkpoint))
      self.events = events
      do throws(PersistenceError) {
        if var change = try await events.next() {
          pause.end()
          checkpoint = change.checkpoint
          if isReset { change.isReset = true }
          isReset = false
          return change
        }
        self.events = nil
        if Task.isCancelled { return nil }
      } catch {
        self.events = nil
        if Task.isCancelled { return nil }
        if error.code == .checkpointExpired, checkpoint != nil {
          (checkpoint, isReset) = (nil, true)
          continue
        }
        guard error.isRetryable else { throw error }
      }
      guard await pause.wait() else { return nil }
    }
    return nil
  }
}
