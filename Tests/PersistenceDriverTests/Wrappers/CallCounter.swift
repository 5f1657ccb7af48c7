import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// The calls that reached an innermost context, by the names of the requirements.
final class CallCounter: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  /// The only model of the innermost context.
  static let note = Result {
    try ModelSchema(
      name: "Note", fields: [FieldSchema("id", .int64), FieldSchema("text", .string)], key: ["id"])
  }

  /// Counts a call.
  func count(_ requirement: String) { counts.withLock { $0[requirement, default: 0] += 1 } }

  /// The counts since the last call of this method.
  func take() -> [String: Int] {
    counts.withLock { counts in
      defer { counts = [:] }
      return counts
    }
  }
}

/// A reader that counts each requirement; it answers with fixed values.
protocol CountedReader: StorageReader {
  var calls: CallCounter { get }
  var prefix: String { get }
}

// No requirement has a default, so a new requirement does not compile until it is counted here.
extension CountedReader {
  func catalog() throws -> [ModelSchema] { answer("catalog", []) }
  func schema(named name: String) throws -> ModelSchema? {
    answer("schema(named:)", name == "Note" ? try? CallCounter.note.get() : nil)
  }
  func unmappedObjects() throws -> [UnmappedObject] { answer("unmappedObjects", []) }
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    answer("find", false)
  }
  func count(_ request: FetchRequest) throws -> Int { answer("count", 0) }
  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    answer("fetch", CountedResults(calls: calls))
  }
  func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    answer("fetch(selecting:)", CountedResults(calls: calls))
  }
  func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] { answer("aggregate", []) }
  func plan(for request: FetchRequest) throws -> QueryPlan {
    answer("plan", QueryPlan(access: .scan, ordering: .byAccess))
  }
  func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    answer("plan(selecting:)", QueryPlan(access: .scan, ordering: .byAccess))
  }

  func cost(of change: SchemaChange) throws -> EvolutionCost { answer("cost", .catalog) }
  func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] { answer("unbuiltIndexes", []) }

  func answer<Value>(_ requirement: String, _ value: Value) -> Value {
    calls.count("\(prefix).\(requirement)")
    return value
  }
}

/// A context that counts every requirement.
final class CountedContext: StorageContext, CountedReader {
  let calls = CallCounter()
  let prefix = "context"
  private let inner = ContextMonitor(Monitoring(), location: "counted:")

  var location: String { answer("location", "counted:") }
  var monitor: ContextMonitor { answer("monitor", inner) }
  var isKnownComplete: Bool { answer("isKnownComplete", true) }
  var asStorageContext: (any StorageContext)? { answer("asStorageContext", self) }
  var capabilities: Capabilities {
    answer(
      "capabilities",
      Capabilities(
        isDurable: false, isMultiProcess: false, evaluatesPredicates: false, hasSecondaryIndexes: false))
  }
  func snapshot() throws -> any StorageSnapshot { answer("snapshot", CountedSnapshot(calls: calls)) }
  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    let name = mode == .exclusive ? "transaction" : "transaction(\(mode))"
    try body(answer(name, CountedTransaction(calls: calls)))
  }
  func close() throws { answer("close", ()) }
}

final class CountedSnapshot: StorageSnapshot, CountedReader {
  let calls: CallCounter
  let prefix = "snapshot"

  init(calls: CallCounter) { self.calls = calls }
}

final class CountedResults: CheckedResults {
  let calls: CallCounter

  init(calls: CallCounter) { self.calls = calls }

  var usesRandomAccess: Bool {
    calls.count("results.usesRandomAccess")
    return true
  }
  func checkUnread() throws { calls.count("results.checkUnread") }
  func count() throws -> Int {
    calls.count("results.count")
    return 0
  }
  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    calls.count("results.read")
    return 0
  }
}

final class CountedTransaction: PipelinedTransaction, CountedReader {
  let calls: CallCounter
  let prefix = "transaction"

  init(calls: CallCounter) { self.calls = calls }

  func define(_ schema: ModelSchema) throws { answer("define", ()) }
  func defineDeferringIndexes(_ schema: ModelSchema) throws { answer("defineDeferringIndexes", ()) }
  func buildIndexes(of schema: ModelSchema) throws -> Bool { answer("buildIndexes", true) }
  func drop(_ schema: ModelSchema) throws { answer("drop", ()) }
  func evolve(_ change: SchemaChange) throws { answer("evolve", ()) }
  func insert(_ row: borrowing Row, in schema: ModelSchema) throws { answer("insert", ()) }
  var isPipelining: Bool { true }
  func insertAhead(_ row: borrowing Row, in schema: ModelSchema) throws { answer("insertAhead", ()) }
  func waitForInsertions() throws -> Bool { answer("waitForInsertions", true) }
  func update(_ row: borrowing Row, in schema: ModelSchema) throws { answer("update", ()) }
  func save(_ row: borrowing Row, in schema: ModelSchema) throws { answer("save", ()) }
  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool { answer("delete(key)", true) }
  func delete(_ request: FetchRequest) throws -> Int { answer("delete(request)", 0) }
  func update(_ request: UpdateRequest) throws -> Int { answer("update(request)", 0) }
  func deleteAll(in schema: ModelSchema) throws -> Int { answer("deleteAll", 0) }
  func nested(_ body: () throws -> Void) throws {
    calls.count("transaction.nested")
    try body()
  }
}
