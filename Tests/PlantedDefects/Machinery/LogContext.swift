import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

/// A context for one process that keeps its content in memory, and its commits in a log.
///
/// Its author knows where such a store goes wrong: each of those places is a ``LogFile/Flaw``.
final class LogContext: StorageContextWrapper {
  let wrapped: any StorageContext
  let location: String
  let capabilities: Capabilities
  private let log: LogFile
  private let length: Remembered<Int>
  /// The length after the last compaction, or at the opening.
  private let compacted: Remembered<Int>
  private let inode: Remembered<UInt64>
  /// After it, only a new opening tells what the disk holds.
  private let unknownOutcome = Remembered<PersistenceError?>(nil)

  init(
    _ path: String, _ options: OpeningOptions, _ monitoring: Monitoring,
    _ change: (inout LogFile.Flaw) -> Void = { _ in }
  ) throws {
    var flaw = LogFile.Flaw()
    change(&flaw)
    location = path
    log = LogFile(path: path, flaw: flaw)
    wrapped = memory(options, monitoring)
    capabilities = Capabilities(
      isDurable: true, isMultiProcess: false, hasFiles: true, isReadOnly: options.isReadOnly,
      evaluatesPredicates: false, hasSecondaryIndexes: false, dropsModels: true,
      detectsDamage: flaw.declaresDetection)
    if !FileManager.default.fileExists(atPath: path) {
      guard options.creates, !options.isReadOnly else {
        throw PersistenceError(.missingStore, "there is no log at the path", location: path)
      }
      _ = try log.replace(with: [])
    }
    let (records, length) = try log.read()
    try wrapped.transaction { transaction in
      for record in records {
        guard let entries = try? JSONDecoder().decode([LoggedWrite].self, from: record) else {
          throw PersistenceError.damaged("a record of the log cannot be decoded")
        }
        for entry in entries { try entry.apply(to: transaction) }
      }
    }
    let mayCut = options.isReadOnly ? flaw.repairsWhenReadOnly : flaw.removesTornTail
    if mayCut, !flaw.keepsLength {
      // What an earlier process could not synchronize may be in the system's memory only.
      _ = try log.replace(with: records)
    } else if mayCut, try log.size() > length {
      try log.cut(to: length)
    }
    // A log with a torn tail that stays is appended to behind it.
    self.length = Remembered(flaw.removesTornTail ? length : try log.size())
    compacted = Remembered(length)
    inode = Remembered(try log.inode())
  }

  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    if capabilities.isReadOnly { throw PersistenceError.readOnly(location) }
    if let error = unknownOutcome.value { throw error }
    try wrapped.transaction(mode) { transaction in
      let recorder = WriteRecorder()
      try body(RecordedTransaction(transaction, recorder))
      let isEvolved = recorder.all.contains { if case .evolve = $0 { true } else { false } }
      guard try recorder.all.isEmpty || log.inode() == inode.value else {
        throw PersistenceError.removedStore(location)
      }
      do {
        if isEvolved || (log.flaw.compacts && length.value > 3 * compacted.value + 8192) {
          try compact(transaction)
        } else if !recorder.all.isEmpty {
          try append(recorder.all)
        }
      } catch let error as PersistenceError where error.code == .outcomeUnknown {
        unknownOutcome.change { $0 = error }
        throw error
      }
    }
  }

  private func append(_ writes: [WriteRecorder.Write]) throws {
    let entries = writes.compactMap(LoggedWrite.init).filter { entry in
      if case .delete = entry { log.flaw.logsDeletions } else { true }
    }
    let end = try log.append(JSONEncoder().encode(entries), at: length.value)
    length.change { $0 = end }
  }

  /// Replaces the log by the state of a transaction.
  private func compact(_ transaction: any StorageTransaction) throws {
    var entries: [LoggedWrite] = []
    for schema in try transaction.catalog() {
      let rows = try transaction.rows(FetchRequest(schema))
      if rows.isEmpty, !log.flaw.keepsEmptyModels { continue }
      entries.append(.define(schema))
      entries += rows.map { .save($0, schema) }
    }
    let end = try log.replace(with: [JSONEncoder().encode(entries)])
    let new = try log.inode()
    length.change { $0 = end }
    compacted.change { $0 = end }
    inode.change { $0 = new }
  }
}
