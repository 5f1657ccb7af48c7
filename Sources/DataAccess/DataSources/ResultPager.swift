import PersistenceCore
import PersistenceDriver
import Synchronization

/// Reads one lazy result, which pins what it shows, a page at a time.
final class ResultPager<Object: PersistentRecord>: Sendable {
  private let store: RepositoryDataSource<Object>
  private let query: FetchOptions<Object>
  private let size: Int
  private let rest = Mutex<PersistentResults<Object>?>(nil)

  init(store: RepositoryDataSource<Object>, query: FetchOptions<Object>, size: Int) {
    self.store = store
    self.query = query
    self.size = size
  }

  @Sendable
  func next() async throws(PersistenceError) -> [Object]? {
    let page = try await store.work { [self] repository -> [Object] in
      let results = try rest.withLock(\.self) ?? Object.results(in: repository.context, options: query)
      var page: [Object] = []
      page.reserveCapacity(min(size, 1024))
      try results.prefix(size).forEach { page.append($0) }
      rest.withLock { $0 = results.dropFirst(page.count) }
      return page
    }
    return page.isEmpty ? nil : page
  }
}
