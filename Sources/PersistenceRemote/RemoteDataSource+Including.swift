#if HTTP
  public import DataAccess
  public import PersistenceCore
  public import PersistenceDriver

  extension RemoteDataSource: IncludingDataSource {
    /// All objects that match a query, with what an inclusion adds to them.
    ///
    /// The objects come in pages, each of one moment of the server's store, with what belongs to them.
    ///
    /// - Parameters:
    ///   - query: The predicate, order and limits.
    ///   - inclusion: What belongs to an object.
    /// - Returns: The tuples, in the query's order.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` for a third-party server, and for an
    ///   inclusion by a condition or an order of other records.
    public func execute<Element: Sendable>(
      _ query: FetchOptions<Object>, including inclusion: Inclusion<Object, Element>
    ) async throws(PersistenceError) -> [Element] {
      var asked = try PersistenceError.catching {
        var asked = try RemoteQuery(query, including: inclusion.related, at: server.client.location)
        asked.inclusions = try inclusion.described()
        return asked
      }
      var check = try check(asked)
      var elements: [Element] = []
      var rest = query.limit ?? .max
      while rest > 0 {
        asked.limit = min(rest, Self.includingPageSize)
        guard let page = try await dialect.page(asked) else { break }
        var objects: [Object] = []
        for record in page.records {
          objects.append(
            try RemoteRecord<Object>.object(record, asked.schema, at: server) { try check.check($0) })
        }
        elements += try IncludedRecords(page, asked, inclusion.related, at: server).elements(
          of: objects, inclusion)
        rest -= objects.count
        guard let next = page.next, !objects.isEmpty else { break }
        asked.continue(after: next)
      }
      return elements
    }

    /// The number of objects of a page with included records, which is held as one answer.
    private static var includingPageSize: Int { 100 }
  }
#endif
