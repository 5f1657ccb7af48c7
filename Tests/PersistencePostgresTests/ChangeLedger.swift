#if Postgres
  import Foundation
  import PersistenceConformance
  import PersistenceCore
  import PersistenceDriver
  import PersistenceDriverSupport

  @testable import PersistencePostgres

  /// The accounts of a store, as an observer is told of them.
  struct ChangeLedger {
    /// The records that exist, as far as was told.
    private(set) var records: Set<RecordKey> = []
    /// How often each record was told.
    private(set) var told: [RecordKey: Int] = [:]
    /// What was told and is not so.
    private(set) var faults: [String] = []
    /// Whether the observer may be told to read again.
    private let readsAgain: Bool
    private var needsReading: Bool

    private init(readsAgain: Bool) { (self.readsAgain, needsReading) = (readsAgain, readsAgain) }

    /// Looks at a context until others have ended and all is told.
    ///
    /// - Parameters:
    ///   - context: The context.
    ///   - readsAgain: Whether connections are cut, after which an observer may have to read all records again.
    ///   - began: Is called once, when the observer is there.
    ///   - isOver: Whether the others have ended.
    /// - Returns: What was told.
    /// - Throws: The error of a look, except a lost connection's if `readsAgain`.
    static func follow(
      _ context: PostgresContext, readsAgain: Bool = false, began: () -> Void, until isOver: () -> Bool
    ) throws -> ChangeLedger {
      let request = try FetchRequest(Account.schema.model)
      let observer = try CommitObserver(request, in: context, keyLimit: 100_000)
      try context.observers.add(observer)
      defer { context.observers.remove(observer) }
      began()
      var ledger = ChangeLedger(readsAgain: readsAgain)
      var wasOver = false
      while !wasOver {
        wasOver = isOver()
        do {
          let look = try context.observers.look(observer, at: context)
          try ledger.add(look.changes, look.snapshot, request)
        } catch let error as PersistenceError where readsAgain && error.code == .unreachable {
          wasOver = false
        }
        if readsAgain { usleep(5_000) }
      }
      return ledger
    }

    /// Adds what one look told, or reads the records again if it told no keys.
    private mutating func add(
      _ changes: KeyChanges, _ snapshot: any StorageSnapshot, _ request: FetchRequest
    ) throws {
      if changes.isUnknown, !readsAgain { faults.append("unknown changes") }
      needsReading = needsReading || (readsAgain && changes.isUnknown)
      guard !needsReading else {
        var all: Set<RecordKey> = []
        _ = try snapshot.fetch(request).read(from: 0, limit: .max) { row in
          all.insert(try RecordKey(of: row, in: request.schema))
        }
        (records, needsReading) = (all, false)
        return
      }
      for (key, entry) in changes.entries {
        told[key, default: 0] += 1
        if entry.matchedBefore != records.contains(key) {
          faults.append("\(key) was there: \(entry.matchedBefore)")
        }
        if entry.matchesNow { records.insert(key) } else { records.remove(key) }
      }
      let count = try snapshot.count(request)
      if records.count != count { faults.append("\(records.count) of \(count) records are told") }
    }
  }
#endif
