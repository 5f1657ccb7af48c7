import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// A wrapper that counts the writes of each transaction, and can lose or change one.
final class RecordingContext: StorageContextWrapper {
  /// The defect for the 17th inserted record.
  enum Fault: Sendable, CaseIterable {
    case none, drop, change
  }

  let wrapped: any StorageContext
  private let fault: Fault
  private let counts = Mutex((largest: 0, all: 0))

  init(_ inner: MemoryContext, fault: Fault = .none) {
    wrapped = inner
    self.fault = fault
  }

  var largestTransaction: Int { counts.withLock { $0.largest } }
  var location: String { "recording " + wrapped.location }

  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    try wrapped.transaction(mode) { transaction in
      let recording = Transaction(transaction, self)
      try body(recording)
      counts.withLock { $0.largest = max($0.largest, recording.inserts) }
    }
  }

  private final class Transaction: StorageTransactionWrapper {
    let wrapped: any StorageTransaction
    private let context: RecordingContext
    var inserts = 0

    init(_ wrapped: any StorageTransaction, _ context: RecordingContext) {
      self.wrapped = wrapped
      self.context = context
    }

    func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
      inserts += 1
      let number = context.counts.withLock { counts in
        counts.all += 1
        return counts.all
      }
      guard number == 17 else { return try wrapped.insert(row, in: schema) }
      switch context.fault {
      case .none: try wrapped.insert(row, in: schema)
      case .drop: break
      case .change:
        var values = try row.values()
        values[values.count - 1] = .double(-1)
        let changed = RowBuffer(count: values.count)
        changed.set(values)
        try changed.withRow { try wrapped.insert($0, in: schema) }
      }
    }
  }
}
