#if HTTP
  import DataAccess
  import PersistenceCore
  import PersistenceDriver
  import PersistencePrimitives

  /// Reads the records of a streamed answer in pages, and resumes after the last record if the stream breaks.
  final class RemotePager<Object: PersistentRecord>: @unchecked Sendable {  // one task at a time uses it
    private let source: RemoteDataSource<Object>
    private let dialect: any RemoteDialect
    private let size: Int
    private var query: FetchOptions<Object>
    private var rows: RemoteDialect.Rows?
    /// The check of all answers, which one after a broken one continues.
    private var check: AnswerCheck?
    private var isAtEnd = false

    init(source: RemoteDataSource<Object>, dialect: any RemoteDialect, query: FetchOptions<Object>, size: Int)
    {
      self.source = source
      self.dialect = dialect
      self.query = query
      self.size = size
    }

    @Sendable
    func next() async throws(PersistenceError) -> [Object]? {
      if Task.isCancelled {
        throw TransportFailure.error(CancellationError(), location: source.server.client.location)
      }
      var page: [Object] = []
      // Resume once for each record: a second failure without progress ends the iteration.
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
        let asked = try source.remoteQuery(query)
        if check == nil { check = try source.check(asked) }
        rows = try await dialect.fetch(asked)
      }
      guard let rows, let row = try await rows() else { return nil }
      return try RemoteRecord<Object>.object(row, schema, at: source.server) { try check?.check($0) }
    }
  }
#endif
