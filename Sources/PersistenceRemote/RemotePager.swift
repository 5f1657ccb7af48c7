import PersistenceCore
import PersistenceDriver

/// Reads the records of a streamed answer page by page, and goes on after the last one where it breaks off.
///
/// It is used by one task at a time, as the iterators of asynchronous sequences are.
final class RemotePager<Object: PersistentRecord>: @unchecked Sendable {  // see above
  private let store: RemoteDataSource<Object>
  private let dialect: any RemoteDialect
  private let size: Int
  private var query: FetchOptions<Object>
  private var rows: RemoteDialect.Rows?
  private var isAtEnd = false

  init(store: RemoteDataSource<Object>, dialect: any RemoteDialect, query: FetchOptions<Object>, size: Int) {
    self.store = store
    self.dialect = dialect
    self.query = query
    self.size = size
  }

  @Sendable
  func next() async throws(PersistenceError) -> [Object]? {
    if Task.isCancelled {
      throw TransportFailure.error(CancellationError(), location: store.server.client.location)
    }
    var page: [Object] = []
    // An answer that breaks off again without another record is not asked for a third time.
    var failures = 0
    while page.count < size, !isAtEnd {
      do throws(PersistenceError) {
        guard let object = try await object() else {
          isAtEnd = true
          break
        }
        page.append(object)
        failures = 0
        query.after = object
        query.token = nil
        query.offset = 0
        query.limit = query.limit.map { $0 - 1 }
      } catch {
        failures += 1
        let hasBegun = rows != nil
        rows = nil
        guard hasBegun, failures < 2, dialect.seeksByKey, error.isRetryable, !Task.isCancelled else {
          isAtEnd = true
          throw error
        }
      }
    }
    if isAtEnd { rows = nil }
    return page.isEmpty ? nil : page
  }

  private func object() async throws(PersistenceError) -> Object? {
    let schema = try RemoteRecord<Object>.schema()
    if rows == nil {
      if query.limit == 0 { return nil }
      rows = try await dialect.fetch(try store.request(query))
    }
    guard let rows, let row = try await rows() else { return nil }
    return try RemoteRecord<Object>.object(row, schema, at: store.server)
  }
}
