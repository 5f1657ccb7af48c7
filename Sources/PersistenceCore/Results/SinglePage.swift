package import PersistenceDriver
import PersistenceDriverSupport

// A fetch with a small limit reads all of its rows at once. It then needs neither a snapshot nor results of the engine, which
// take longer to make and to release than some rows to read.

extension ResultStorage {
  /// The one page of a short fetch, whose rows a store passes on once; nil if the rows must be fetched.
  @inlinable
  convenience init?<Model: PersistentRecord>(
    passedOnBy context: any PersistentContext, _ options: FetchOptions<Model>,
    _ decode: (borrowing Row) throws -> Element
  ) throws {
    guard let limit = options.onePageLimit else { return nil }
    let (model, predicate) = (try RecordType(Model.self), options.predicate)
    let order = options.sorting.map { $0.fieldOrder }
    var monitor: ContextMonitor?
    let page = try ContiguousArray<Element>(unsafeUninitializedCapacity: limit) { page, count in
      monitor = try model.passOn(
        by: context, where: predicate.node, predicate.failure, order: order, limit: limit
      ) { row in
        guard count < page.count else { throw model.origin(in: context).surplus() }
        do {
          page.initializeElement(at: count, to: try decode(row))
        } catch let error as PersistenceError {
          throw model.origin(in: context).located(error, row)
        }
        count += 1
      }
      if monitor == nil {
        page[..<count].deinitialize()
        count = 0
      }
    }
    guard let monitor else { return nil }
    self.init(page, monitor)
  }
}

extension FetchOptions {
  /// The limit of a request for a first page that no page follows; nil for another request, and for one that asks of
  /// related records.
  @inlinable var onePageLimit: Int? {
    guard let limit, 1...FetchedRows.pageSize ~= limit, offset == 0, after == nil, token == nil,
      !predicate.hasRelations, !sorting.contains(where: { $0.relation != nil })
    else { return nil }
    return limit
  }
}

extension RecordType {
  /// Passes on the first rows of a store, in one pass.
  ///
  /// - Returns: The monitor of the context; nil if the rows must be fetched, also after some were passed on.
  @usableFromInline
  func passOn(
    by context: any PersistentContext, where predicate: PredicateNode, _ failure: (any Error)?,
    order: [FieldOrder], limit: Int, _ body: (borrowing Row) throws -> Void
  ) throws -> ContextMonitor? {
    if context is TransactionContext { return nil }
    let store = try StorageAccess.store(context, for: type, schema, hasFormerNames: hasFormerNames)
    guard let passing = store as? any SinglePassContext else { return nil }
    if let failure { throw failure }
    let request = try FetchRequest(schema, where: predicate.filter, order: order, limit: limit)
    let monitor = store.monitor
    do {
      let count = try monitor.measure(request) {
        try store.plan(for: request)
      } _: {
        try passing.readOnce(request, body)
      }
      return count == nil ? nil : monitor
    } catch let error as PersistenceError where error.code == .schemaMismatch {
      return nil  // the fetch takes a mapping
    } catch {
      throw origin(in: context).located(error)
    }
  }

  /// The origin of the rows, for errors.
  @usableFromInline
  func origin(in context: any PersistentContext) -> RowOrigin {
    RowOrigin(schema, location: context.asStorageContext?.location ?? "")
  }
}
