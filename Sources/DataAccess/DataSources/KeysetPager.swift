import PersistenceCore
import Synchronization

/// Reads a query with keyset pagination: each page starts after the last object of the page before.
final class KeysetPager<Source: DataSource>: Sendable {
  private struct Progress {
    var query: FetchOptions<Source.Object>
    var isAtEnd = false
  }

  private let source: Source
  private let size: Int
  private let progress: Mutex<Progress>

  init(source: Source, query: FetchOptions<Source.Object>, size: Int) {
    self.source = source
    self.size = size
    progress = Mutex(Progress(query: query))
  }

  @Sendable
  func next() async throws(Source.Failure) -> [Source.Object]? {
    let (query, isAtEnd) = progress.withLock { ($0.query, $0.isAtEnd) }
    if isAtEnd { return nil }
    let wanted = min(size, query.limit ?? size)
    var page = query
    page.limit = wanted
    let objects = wanted == 0 ? [] : try await source.execute(page)
    progress.withLock { progress in
      progress.query.offset = 0
      progress.query.limit = query.limit.map { $0 - objects.count }
      progress.query.token = nil
      progress.query.after = objects.last
      progress.isAtEnd = objects.count < wanted || progress.query.limit == 0
    }
    return objects.isEmpty ? nil : objects
  }
}
