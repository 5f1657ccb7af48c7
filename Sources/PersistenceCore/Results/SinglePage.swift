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
    let model = try RecordType(Model.self)
    guard let source = try SinglePageSource(context, for: model) else { return nil }
    let order = options.sorting.map { $0.fieldOrder }
    // Apart from the options, which the closure would copy.
    let (condition, failure) = (options.predicate.node, options.predicate.failure)
    var isPassed = false
    let page = try ContiguousArray<Element>(unsafeUninitializedCapacity: limit) { page, count in
      isPassed = try source.passOn(
        model, where: condition, failure, order: order, limit: limit
      ) { row in
        guard count < page.count else { throw source.origin(of: model).surplus() }
        do {
          page.initializeElement(at: count, to: try decode(row))
        } catch let error as PersistenceError {
          throw source.origin(of: model).located(error, row)
        }
        count += 1
      }
      if !isPassed {
        page[..<count].deinitialize()
        count = 0
      }
    }
    guard isPassed else { return nil }
    self.init(page, source.monitor)
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

/// A store that passes rows on, for code that is not specialized for the model.
@usableFromInline
struct SinglePageSource {
  private let context: any SinglePassContext

  /// Resolves the access of a model to a context; nil if it does not pass rows on.
  @usableFromInline
  init?(_ context: any PersistentContext, for model: RecordType) throws {
    if context is TransactionContext { return nil }
    guard let root = context.asStorageContext, let passing = root as? any SinglePassContext else {
      return nil
    }
    let store = try StorageAccess.store(
      context, for: model.type, model.schema, hasFormerNames: model.hasFormerNames)
    guard let access = store === root ? passing : store as? any SinglePassContext else { return nil }
    self.context = access
  }

  @usableFromInline var monitor: ContextMonitor { context.monitor }

  /// Passes on the first rows of a request.
  ///
  /// - Returns: False if the rows must be fetched; what was passed on then does not count.
  @usableFromInline
  func passOn(
    _ model: RecordType, where predicate: PredicateNode, _ failure: (any Error)?, order: [FieldOrder],
    limit: Int,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    if let failure { throw failure }
    let request = try FetchRequest(model.schema, where: predicate.filter, order: order, limit: limit)
    var isOfRow = false
    do {
      return try context.monitor.measure(request) {
        try context.plan(for: request)
      } _: {
        try context.readOnce(request) { row in
          do {
            try body(row)
          } catch {
            isOfRow = true
            throw error
          }
        } != nil
      }
    } catch let error as PersistenceError where error.code == .schemaMismatch && !isOfRow {
      return false  // the fetch takes a mapping
    } catch {
      throw origin(of: model).located(error)
    }
  }

  /// The origin of the rows, for errors.
  @usableFromInline
  func origin(of model: RecordType) -> RowOrigin { RowOrigin(model.schema, location: context.location) }
}
