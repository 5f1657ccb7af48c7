import Logging
import PersistenceDriver
import Testing
import PersistenceDriverSupport

@Suite("Wrappers forward each requirement exactly once")
struct ForwardingTests {
  /// A wrapper that overrides nothing.
  private final class BareWrapper: StorageContextWrapper {
    let wrapped: any StorageContext

    init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

    func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot { BareSnapshot(wrapped: snapshot) }
    func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction {
      BareTransaction(wrapped: transaction)
    }
    func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults {
      BareResults(wrapped: results)
    }
  }

  private final class BareSnapshot: StorageSnapshotWrapper {
    let wrapped: any StorageSnapshot

    init(wrapped: any StorageSnapshot) { self.wrapped = wrapped }

    func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults {
      BareResults(wrapped: results)
    }
  }

  private final class BareTransaction: StorageTransactionWrapper {
    let wrapped: any StorageTransaction

    init(wrapped: any StorageTransaction) { self.wrapped = wrapped }

    func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults {
      BareResults(wrapped: results)
    }
  }

  private final class BareResults: StorageResultsWrapper {
    let wrapped: any StorageResults

    init(wrapped: any StorageResults) { self.wrapped = wrapped }
  }

  /// The wrappers of this package, and one that overrides nothing.
  enum Wrapper: CaseIterable {
    case bare, logging, silentLogging, readOnly, fitted

    func wrap(_ context: any StorageContext) -> any StorageContext {
      switch self {
      case .bare: BareWrapper(context)
      case .logging, .silentLogging: LoggingContext(context, logger: logger)
      case .readOnly: ReadOnlyContext(context)
      case .fitted: FittedContext(context, SchemaFits(location: "counted:"))
      }
    }

    private var logger: Logger {
      var logger = Logger(label: "forwarding") { _ in SwiftLogNoOpLogHandler() }
      logger.logLevel = self == .logging ? .trace : .critical
      return logger
    }
  }

  private let schema: ModelSchema
  private let request: FetchRequest
  private let change: SchemaChange
  private let context = CountedContext()

  init() throws {
    schema = try CallCounter.note.get()
    request = try FetchRequest(schema)
    change = try SchemaChange(from: schema, to: schema, sources: [.field(0), .field(1)])
  }

  @Test("of contexts", arguments: Wrapper.allCases)
  func contexts(_ wrapper: Wrapper) throws {
    let wrapped = wrapper.wrap(context)
    _ = context.calls.take()
    try expectReads(by: wrapped, "context", mayLookUp: wrapper == .fitted)
    try expect("context.location") { _ = wrapped.location }
    try expect("context.capabilities") { _ = wrapped.capabilities }
    try expect("context.monitor") { _ = wrapped.monitor }
    try expect("context.isKnownComplete") { _ = wrapped.isKnownComplete }
    try expect("context.close") { try wrapped.close() }
    // The answer is the wrapper, not the wrapped context.
    #expect(wrapped.asStorageContext === wrapped)
  }

  @Test("of snapshots", arguments: Wrapper.allCases)
  func snapshots(_ wrapper: Wrapper) throws {
    let wrapped = wrapper.wrap(context)
    _ = context.calls.take()
    let snapshot = try wrapped.snapshot()
    #expect(context.calls.take() == ["context.snapshot": 1])
    try expectReads(by: snapshot, "snapshot", mayLookUp: wrapper == .fitted)
  }

  @Test("of transactions", arguments: Wrapper.allCases)
  func transactions(_ wrapper: Wrapper) throws {
    let wrapped = wrapper.wrap(context)
    _ = context.calls.take()
    guard wrapper != .readOnly else {
      #expect(throws: PersistenceError.self) { try wrapped.transaction { _ in } }
      #expect(context.calls.take() == ["context.location": 1], "the transaction does not begin")
      return
    }
    try wrapped.transaction { transaction in
      #expect(context.calls.take() == ["context.transaction": 1])
      try expectReads(by: transaction, "transaction", mayLookUp: wrapper == .fitted)
      try expectWrites(by: transaction, mayLookUp: wrapper == .fitted)
    }
    #expect(context.calls.take().isEmpty)
    try wrapped.transaction(.replayable) { _ in
      #expect(context.calls.take() == ["context.transaction(replayable)": 1], "the mode is forwarded")
    }
  }

  @Test("of an observed store's transactions")
  func recording() throws {
    let other = try ModelSchema(name: "Other", fields: [FieldSchema("id", .int64)], key: ["id"])
    let observers = CommitObservers()
    try observers.add(CommitObserver(FetchRequest(other), in: MemoryContext(), keyLimit: 10))
    let observed = observers.begin(CountedTransaction(calls: context.calls))
    #expect(!(observed.transaction is CountedTransaction))
    try expectReads(by: observed.transaction, "transaction")
    // The observer observes another model, so no write needs a read.
    try expectWrites(by: observed.transaction)
  }

  @Test("of transactions that keep references")
  func keeping() throws {
    let keeper = KeepingTransaction(CountedTransaction(calls: context.calls), location: "counted:")
    try expectReads(by: keeper, "transaction")
    // Whether the store has references is looked up.
    try expectWrites(by: keeper, mayLookUp: true)
  }

  // MARK: - Calls

  /// Expects that a reader forwards each requirement; one that maps schemas may look up models as well.
  private func expectReads(by reader: any StorageReader, _ prefix: String, mayLookUp: Bool = false) throws {
    func expect(_ requirement: String, _ call: () throws -> Void) throws {
      try self.expect(requirement, mayLookUp: mayLookUp, call)
    }
    try expect("\(prefix).catalog") { _ = try reader.catalog() }
    try expect("\(prefix).schema(named:)") { _ = try reader.schema(named: "Note") }
    try expect("\(prefix).unmappedObjects") { _ = try reader.unmappedObjects() }
    try expect("\(prefix).find") { _ = try reader.find(RecordKey([.integer(1)]), in: schema) { _ in } }
    try expect("\(prefix).count") { _ = try reader.count(request) }
    try expect("\(prefix).aggregate") {
      _ = try reader.aggregate(AggregateRequest(request, aggregates: [.count]))
    }
    try expect("\(prefix).plan") { _ = try reader.plan(for: request) }
    try expect("\(prefix).plan(selecting:)") { _ = try reader.plan(for: request, selecting: [1]) }
    try expect("\(prefix).cost") { _ = try reader.cost(of: change) }
    try expect("\(prefix).unbuiltIndexes") { _ = try reader.unbuiltIndexes(of: schema) }
    try expect("\(prefix).fetch") {
      try expectResults(try reader.fetch(request), "\(prefix).fetch", mayLookUp)
    }
    try expect("\(prefix).fetch(selecting:)") {
      try expectResults(try reader.fetch(request, selecting: [1]), "\(prefix).fetch(selecting:)", mayLookUp)
    }
  }

  /// Expects that results forward each requirement, and puts the count of the fetch back for ``expect``.
  private func expectResults(_ results: any StorageResults, _ fetch: String, _ mayLookUp: Bool) throws {
    let calls = context.calls.take().filter { !(mayLookUp && $0.key.hasSuffix(".schema(named:)")) }
    #expect(calls == [fetch: 1])
    try expect("results.checkUnread") { try (results as? any CheckedResults)?.checkUnread() }
    try expect("results.count") { _ = try results.count() }
    try expect("results.usesRandomAccess") { _ = results.usesRandomAccess }
    try expect("results.read") { _ = try results.read(from: 0, limit: 1) { _ in } }
    context.calls.count(fetch)
  }

  private func expectWrites(by transaction: any StorageTransaction, mayLookUp: Bool = false) throws {
    func expect(_ name: String, _ call: () throws -> Void) throws {
      try self.expect("transaction.\(name)", mayLookUp: mayLookUp, call)
    }
    let row = RowBuffer(count: 2)
    row.set([.integer(1), .text("a")])
    try expect("define") { try transaction.define(schema) }
    try expect("defineDeferringIndexes") { try transaction.defineDeferringIndexes(schema) }
    try expect("buildIndexes") { _ = try transaction.buildIndexes(of: schema) }
    try expect("drop") { try transaction.drop(schema) }
    try expect("evolve") { try transaction.evolve(change) }
    try expect("insert") { try row.withRow { try transaction.insert($0, in: schema) } }
    try expect("update") { try row.withRow { try transaction.update($0, in: schema) } }
    try expect("save") { try row.withRow { try transaction.save($0, in: schema) } }
    try expect("delete(key)") { _ = try transaction.delete(RecordKey([.integer(1)]), in: schema) }
    try expect("delete(request)") { _ = try transaction.delete(request) }
    try expect("update(request)") {
      _ = try transaction.update(UpdateRequest(request, set: [FieldAssignment("text", .text("b"))]))
    }
    try expect("deleteAll") { _ = try transaction.deleteAll(in: schema) }
    try expect("nested") { try transaction.nested {} }
    guard let pipeline = transaction as? any PipelinedTransaction else { return }
    #expect(pipeline.isPipelining)
    try expect("insertAhead") { try row.withRow { try pipeline.insertAhead($0, in: schema) } }
    try expect("waitForInsertions") { _ = try pipeline.waitForInsertions() }
  }

  private func expect(_ requirement: String, mayLookUp: Bool = false, _ call: () throws -> Void) throws {
    try call()
    // A model is looked up in the catalog, and its past in the ledger, where there is one.
    let lookUps = ["schema(named:)", "snapshot", "fetch", "read"]
    let calls = context.calls.take().filter { call in
      let isLookUp = lookUps.contains { call.key.hasSuffix("." + $0) }
      return !(mayLookUp && isLookUp && call.key != requirement)
    }
    #expect(calls == [requirement: 1], "\(requirement)")
  }
}
