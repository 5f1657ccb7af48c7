import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// W3, R1a, R2, R3: what outlives its transaction or context, and what does not.
  static let lifetimes: [PlantedDefect] = [
    lasting("an ended transaction still reads") { wrapped, context in
      LastingTransaction(wrapped, context, reads: true)
    },
    lasting("an ended transaction still writes") { wrapped, context in
      LastingTransaction(wrapped, context, writes: true)
    },
    lasting("the calls of an ended transaction are ignored") { wrapped, context in
      LastingTransaction(wrapped, context, ignores: true)
    },
    PlantedDefect("the results of a transaction outlive it", .r1a, isSemantic: false) { flaw in
      flaw.results = { results, _ in RowList(try results.rows()) }
    }.caught(by: "the results of a transaction end with it, whether it commits or rolls back"),
    PlantedDefect(
      "closing a context closes its snapshots", .r3,
      opening: { _, options, monitoring in ClosingContext(memory(options, monitoring)) }
    ).caught(by: "a snapshot that was taken before close stays readable, and shows its moment"),
    PlantedDefect(
      "a snapshot shows the newest state once its context is closed", .r3,
      opening: { path, options, monitoring in
        ClosingContext(try sqlite(path, options, monitoring)) { try sqlite(path, options, monitoring) }
      }
    ).caught(by: "a snapshot that was taken before close stays readable, and shows its moment"),
    PlantedDefect(
      "find swallows the error of its closure", .r4,
      opening: { _, options, monitoring in SwallowingContext(memory(options, monitoring)) }
    ).caught(
      by: "an error from a closure that receives rows passes unchanged, and leaves nothing locked or pinned"),
    PlantedDefect("a result whose reader has thrown stays locked", .r4, isSemantic: false) { flaw in
      flaw.results = { results, _ in
        let isLocked = Remembered(false)
        return FlawedResults(
          results,
          read: { results, offset, limit, body in
            if isLocked.value { throw PersistenceError.busy("memory:", waited: .zero) }
            isLocked.change { $0 = true }
            let count = try results.read(from: offset, limit: limit, body)
            isLocked.change { $0 = false }
            return count
          })
      }
    }.caught(
      by: "an error from a closure that receives rows passes unchanged, and leaves nothing locked or pinned"),
    PlantedDefect(
      "long-held results are never reported", .r2,
      opening: { _, options, monitoring in
        OwnMonitorContext(memory(options, Monitoring()), monitoring)
      }
    ).caught(
      by: "a commit reports a result that was held for too long, with the line of code that requested it"),
    PlantedDefect(
      "fetch reads every row at once", .r1,
      opening: { path, options, monitoring in
        var flaw = Flaw()
        flaw.fetch = { request, reader in RowList(try reader.rows(request)) }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }
    ).caught(by: "fetch takes no memory for the rows that are not read"),
  ]

  /// A defect in transactions that have ended.
  private static func lasting(
    _ name: String,
    wrap: @escaping @Sendable (any StorageTransaction, any StorageContext) -> LastingTransaction
  ) -> PlantedDefect {
    PlantedDefect(name, .w3, isSemantic: false) { flaw in
      flaw.transaction = { context, body in
        var made: LastingTransaction?
        defer { made?.hasEnded = true }
        try context.transaction { transaction in
          let lasting = wrap(transaction, context)
          made = lasting
          try body(lasting)
        }
      }
    }.caught(by: "every call on a transaction that has ended throws closed, and changes nothing")
  }
}

/// A transaction that goes on in its context after its end.
private final class LastingTransaction: StorageTransactionWrapper {
  let wrapped: any StorageTransaction
  var hasEnded = false
  private let context: any StorageContext
  private let reads: Bool
  private let writes: Bool
  private let ignores: Bool

  init(
    _ wrapped: any StorageTransaction, _ context: any StorageContext, reads: Bool = false,
    writes: Bool = false, ignores: Bool = false
  ) {
    self.wrapped = wrapped
    self.context = context
    self.reads = reads
    self.writes = writes
    self.ignores = ignores
  }

  var wrappedReader: any StorageReader { hasEnded && reads ? context : wrapped }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    guard hasEnded else { return try wrapped.save(row, in: schema) }
    if ignores { return }
    guard writes else { return try wrapped.save(row, in: schema) }
    let values = try row.values()
    try context.transaction { try $0.write(.save, values, in: schema) }
  }
}

/// A context whose snapshots notice that it was closed.
private final class ClosingContext: StorageContextWrapper {
  let wrapped: any StorageContext
  private let isClosed = Remembered(false)
  private let reopen: (@Sendable () throws -> any StorageContext)?

  /// After close, snapshots throw, or read a newly opened context.
  init(_ wrapped: any StorageContext, reopen: (@Sendable () throws -> any StorageContext)? = nil) {
    self.wrapped = wrapped
    self.reopen = reopen
  }

  func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot {
    ClosingSnapshot(snapshot, isClosed, reopen)
  }

  func close() throws {
    isClosed.change { $0 = true }
    try wrapped.close()
  }
}

private final class ClosingSnapshot: StorageSnapshotWrapper {
  let wrapped: any StorageSnapshot
  private let isClosed: Remembered<Bool>
  private let reopen: (@Sendable () throws -> any StorageContext)?

  init(
    _ wrapped: any StorageSnapshot, _ isClosed: Remembered<Bool>,
    _ reopen: (@Sendable () throws -> any StorageContext)?
  ) {
    self.wrapped = wrapped
    self.isClosed = isClosed
    self.reopen = reopen
  }

  private func reader() throws -> any StorageReader {
    guard isClosed.value else { return wrapped }
    guard let reopen else { throw PersistenceError.closed("the snapshot") }
    return try reopen()
  }

  func fetch(_ request: FetchRequest) throws -> any StorageResults { try reader().fetch(request) }
  func count(_ request: FetchRequest) throws -> Int { try reader().count(request) }
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    try reader().find(key, in: schema, body)
  }
}

/// A context whose lookups swallow the errors of closures.
private final class SwallowingContext: StorageContextWrapper {
  let wrapped: any StorageContext

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    try wrapped.find(key, in: schema) { row in
      do { try body(row) } catch {}
    }
  }
}
