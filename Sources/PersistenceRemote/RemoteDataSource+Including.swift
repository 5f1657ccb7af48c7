public import DataAccess
public import PersistenceCore
public import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives

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

/// The included records of a page, from which its tuples are made as from a store.
private struct IncludedRecords {
  private let store = MemoryContext()
  private let location: String

  init(
    _ page: RemotePage, _ query: RemoteQuery, _ related: [any PersistentRecord.Type], at server: RemoteServer
  ) throws(PersistenceError) {
    location = server.client.location
    do {
      let schemas = try related.map { try $0.declaration.schema }
      try store.transaction { transaction in
        for schema in schemas { try transaction.define(schema) }
        for (model, records) in page.included {
          guard let schema = schemas.first(where: { StoredName($0.name) == StoredName(model) }) else {
            throw PersistenceError.damaged("it includes records of \(model), which nobody asked for")
          }
          let row = RowBuffer(count: schema.fields.count)
          for record in records {
            try RecordJSON.read(record, schema, into: row)
            try row.withRow { try transaction.save($0, in: schema) }
          }
        }
      }
    } catch {
      throw PersistenceError(
        .damaged,
        "cannot read the records that the server includes: \((error as? PersistenceError)?.message ?? "\(error)")",
        model: query.schema.name, location: location)
    }
  }

  func elements<Object: PersistentRecord, Element: Sendable>(
    of objects: [Object], _ inclusion: Inclusion<Object, Element>
  ) throws(PersistenceError) -> [Element] {
    try PersistenceError.catching {
      try inclusion.elements(of: objects, in: store.snapshot(), location: location)
    }
  }
}
