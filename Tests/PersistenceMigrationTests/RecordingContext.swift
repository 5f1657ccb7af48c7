import PersistenceDriver
import Synchronization

/// A context over another that counts the writes of each transaction, and may lose or change one.
final class RecordingContext: StorageContext {
  /// What goes wrong with the 17th record that is inserted.
  enum Fault: Sendable, CaseIterable {
    case none, drop, change
  }

  private let inner: MemoryContext
  private let fault: Fault
  private let counts = Mutex((largest: 0, all: 0))

  init(_ inner: MemoryContext, fault: Fault = .none) {
    self.inner = inner
    self.fault = fault
  }

  var largestTransaction: Int { counts.withLock { $0.largest } }
  var location: String { "recording " + inner.location }
  var capabilities: Capabilities { inner.capabilities }
  var monitor: ContextMonitor { inner.monitor }
  func snapshot() throws -> any StorageSnapshot { try inner.snapshot() }
  func close() throws { try inner.close() }
  func catalog() throws -> [ModelSchema] { try inner.catalog() }
  func count(_ request: FetchRequest) throws -> Int { try inner.count(request) }
  func fetch(_ request: FetchRequest) throws -> any StorageResults { try inner.fetch(request) }
  func plan(for request: FetchRequest) throws -> QueryPlan { try inner.plan(for: request) }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    try inner.find(key, in: schema, body)
  }

  func transaction(_ body: (any StorageTransaction) throws -> Void) throws {
    try inner.transaction { transaction in
      let recording = Transaction(transaction, self)
      try body(recording)
      counts.withLock { $0.largest = max($0.largest, recording.inserts) }
    }
  }

  private final class Transaction: StorageTransaction {
    private let inner: any StorageTransaction
    private let context: RecordingContext
    var inserts = 0

    init(_ inner: any StorageTransaction, _ context: RecordingContext) {
      self.inner = inner
      self.context = context
    }

    func catalog() throws -> [ModelSchema] { try inner.catalog() }
    func count(_ request: FetchRequest) throws -> Int { try inner.count(request) }
    func fetch(_ request: FetchRequest) throws -> any StorageResults { try inner.fetch(request) }
    func plan(for request: FetchRequest) throws -> QueryPlan { try inner.plan(for: request) }
    func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool
    {
      try inner.find(key, in: schema, body)
    }
    func define(_ schema: ModelSchema) throws { try inner.define(schema) }
    func update(_ row: borrowing Row, in schema: ModelSchema) throws { try inner.update(row, in: schema) }
    func save(_ row: borrowing Row, in schema: ModelSchema) throws { try inner.save(row, in: schema) }
    func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool { try inner.delete(key, in: schema) }
    func delete(_ request: FetchRequest) throws -> Int { try inner.delete(request) }
    func deleteAll(in schema: ModelSchema) throws -> Int { try inner.deleteAll(in: schema) }
    func nested(_ body: () throws -> Void) throws { try inner.nested(body) }

    func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
      inserts += 1
      let number = context.counts.withLock { counts in
        counts.all += 1
        return counts.all
      }
      guard number == 17 else { return try inner.insert(row, in: schema) }
      switch context.fault {
      case .none: try inner.insert(row, in: schema)
      case .drop: break
      case .change:
        var values = try row.values()
        values[values.count - 1] = .double(-1)
        let changed = RowBuffer(count: values.count)
        changed.set(values)
        try changed.withRow { try inner.insert($0, in: schema) }
      }
    }
  }
}
