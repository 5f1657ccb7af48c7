import PersistenceCore
import PersistenceDriver

/// One iteration over the results of a query.
final class FollowedResult<Source: ChangeTrackingDataSource>: @unchecked Sendable {  // one task
  private let source: Source
  private let query: FetchOptions<Source.Object>
  private let follower: ChangeFollower<Source>
  private var pause: RetryPause
  private var result = ResultChanges<Source.Object>()
  /// Whether the result may have changed since it was fetched.
  private var isDue = true

  init(_ source: Source, _ query: FetchOptions<Source.Object>, _ options: FollowingOptions) {
    (self.source, self.query) = (source, query)
    follower = ChangeFollower(source, since: nil, options)
    pause = RetryPause(options)
  }

  @Sendable
  func next() async throws(PersistenceError) -> DataSourceUpdate<Source.Object>? {
    let scope = try mappingErrors { try QueryScope(query) }
    while true {
      // A checkpoint precedes the fetch, so that no change between them is missed.
      repeat {
        guard let change = try await follower.next() else { return nil }
        let concerns = try mappingErrors { try scope.mayConcern(change, result.objects ?? []) }
        if change.isReset || concerns { isDue = true }
        if !change.hasMore { break }
      } while true
      while isDue {
        do throws(PersistenceError) {
          let objects = try await source.execute(query)
          isDue = false
          pause.end()
          if let changes = try mappingErrors({ try result.replace(with: objects) }) {
            return DataSourceUpdate(objects: objects, changes: changes)
          }
        } catch {
          if Task.isCancelled { return nil }
          guard error.isRetryable else { throw error }
          guard await pause.wait() else { return nil }
        }
      }
    }
  }
}
