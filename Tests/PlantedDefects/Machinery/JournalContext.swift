import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport
import Synchronization

/// A context for one process that keeps its content in memory and its commits in a ``JournalFile``.
final class JournalContext: StorageContextWrapper {
  /// The number of commits after which the journal is replaced by the state.
  private static let longest = 4

  let wrapped: any StorageContext
  let location: String
  let capabilities: Capabilities
  private let flaw: JournalFile.Flaw
  private let journal: Mutex<JournalFile>

  init(
    _ path: String, _ options: OpeningOptions, _ monitoring: Monitoring, _ flaw: JournalFile.Flaw
  ) throws {
    location = path
    self.flaw = flaw
    wrapped = memory(options, monitoring)
    capabilities = Capabilities(
      isDurable: true, isMultiProcess: false, hasFiles: true, isReadOnly: options.isReadOnly,
      evaluatesPredicates: false, hasSecondaryIndexes: false, dropsModels: true)
    let file = JournalFile(path, flaw)
    if !file.exists, options.isReadOnly || !options.creates {
      throw PersistenceError(.missingStore, "there is no journal at the path", location: path)
    }
    let records = try file.exists ? file.read() : []
    if !options.isReadOnly { try file.replace(with: records) }
    try wrapped.transaction { transaction in
      for record in records {
        guard let entries = try? JSONDecoder().decode([LoggedWrite].self, from: Data(record)) else {
          throw PersistenceError.damaged("a record of the journal cannot be decoded")
        }
        for entry in entries { try entry.apply(to: transaction) }
      }
    }
    journal = Mutex(file)
  }

  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    if capabilities.isReadOnly { throw PersistenceError.readOnly(location) }
    var writes: [WriteRecorder.Write] = []
    try wrapped.transaction(mode) { transaction in
      let recorder = WriteRecorder()
      try body(RecordedTransaction(transaction, recorder))
      writes = recorder.all
      // The memory shows the commit once this closure has returned.
      if !flaw.publishesEarly { try record(writes, in: transaction) }
    }
    if flaw.publishesEarly { try record(writes, in: wrapped) }
  }

  private func record(_ writes: [WriteRecorder.Write], in state: any StorageReader) throws {
    guard !writes.isEmpty else { return }
    let isEvolved = writes.contains { if case .evolve = $0 { true } else { false } }
    let encoder = JSONEncoder()
    let entry = isEvolved ? [] : [UInt8](try encoder.encode(writes.compactMap(LoggedWrite.init)))
    let all = try Self.entries(of: state).map { [UInt8](try encoder.encode([$0])) }
    try journal.withLock { journal in
      if isEvolved || journal.isSuspect || journal.count >= Self.longest {
        try journal.replace(with: all)
      } else {
        try journal.append(entry)
      }
    }
  }

  func close() throws {
    try wrapped.close()
    journal.withLock { $0.close() }
  }

  private static func entries(of state: any StorageReader) throws -> [LoggedWrite] {
    try state.catalog().flatMap { schema in
      [.define(schema)] + (try state.rows(FetchRequest(schema))).map { .save($0, schema) }
    }
  }
}
