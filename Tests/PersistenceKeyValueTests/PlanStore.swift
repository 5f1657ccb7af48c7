import Foundation
import PersistenceDriver

@testable import PersistenceKeyValue
@testable import PersistenceLMDB

/// A store under test: LMDB, or an array store that cuts many keys.
protocol PlanStore: AnyObject {
  /// The newest committed state.
  func source() throws -> any ByteSource
  func transaction(_ body: (KeyValueTransaction) throws -> Void) throws
}

final class ArrayPlanStore: PlanStore {
  let bytes: ArrayByteStore
  private let store = KeyValueStore(location: "array", indexBuilding: .small)

  init(longestKey: Int) { bytes = ArrayByteStore(longestKey: longestKey) }

  func source() throws -> any ByteSource { bytes }

  func transaction(_ body: (KeyValueTransaction) throws -> Void) throws {
    try bytes.nested {
      let transaction = KeyValueTransaction(store, bytes)
      try body(transaction)
      try transaction.finish()
      transaction.end(committedAs: bytes.version)
    }
  }
}

final class LMDBPlanStore: PlanStore {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "plans-\(UUID().uuidString)")
  private let context: LMDBContext

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    context = try LMDBContext(path: folder.appending(path: "store.lmdb").path)
  }

  deinit {
    try? context.close()
    try? FileManager.default.removeItem(at: folder)
  }

  func source() throws -> any ByteSource {
    guard let snapshot = try context.snapshot() as? LMDBSnapshot else { throw UnexpectedStore() }
    return snapshot
  }

  func transaction(_ body: (KeyValueTransaction) throws -> Void) throws {
    try context.transaction { transaction in
      guard let transaction = transaction as? KeyValueTransaction else { throw UnexpectedStore() }
      try body(transaction)
    }
  }

  struct UnexpectedStore: Error {}
}
