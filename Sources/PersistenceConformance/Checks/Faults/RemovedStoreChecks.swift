import Foundation
import PersistenceCore

/// E8 C3: files that other programs remove, and openings that fail.
enum RemovedStoreChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "when a store's files are removed, no write is acknowledged that the path does not hold", [.e8],
      needs: [.writable, .files], removed),
    ConformanceCheck(
      "when a store's files are replaced by another store's, no write is acknowledged that the path does not"
        + " hold", [.e8], needs: [.writable, .files, .durable], replaced),
    ConformanceCheck(
      "an opening that throws leaves no lock and no open file", [.c3, .e5],
      needs: [.writable, .files, .multiProcess], rejected
    ).slow,
    ConformanceCheck(
      "an empty file is a new store or throws notAStore, and reading it writes nothing", [.e5],
      needs: [.writable, .files], emptyFile),
  ]

  private static let codes: [PersistenceError.Code] = [.missingStore, .damaged, .notAStore, .inputOutput]

  /// Writes twice to a store whose files have changed, and returns the accounts that it acknowledged.
  private static func write(to repository: Repository, _ what: String) throws -> [Int] {
    var acknowledged: [Int] = []
    for id in [901, 902] {
      do {
        try repository.save(Account(id, balance: id))
        acknowledged.append(id)
      } catch let error as PersistenceError {
        try expect(codes.contains(error.code), "a write to a store that was \(what) throws \(error)")
      }
    }
    return acknowledged
  }

  private static func clear(_ folder: URL) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }

  @Sendable private static func removed(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open(.waiting(milliseconds: 300))
    try repository.save(contentsOf: (1...5).map { Account($0, balance: $0) })
    try clear(store.folder)
    let acknowledged = try write(to: repository, "removed")
    try? repository.close()
    let again = try store.open()
    let held = try again.fetch(Account.self).map(\.id)
    let expected = acknowledged.isEmpty ? [] : Array(1...5) + acknowledged
    try expect(held, equals: expected, "acknowledged after the removal: \(acknowledged); the path now holds")
    try again.save(Account(1, balance: 7))
    try expect(again.find(Account.self, id: 1)?.balance, equals: 7, "a write to the new store")
  }

  @Sendable private static func replaced(_ context: ContextUnderTest) throws {
    let (store, other) = (try context.makeStore(), try context.makeStore())
    let donor = try other.open()
    try donor.save(contentsOf: (1...3).map { Account($0, balance: 77) })
    try donor.close()
    let repository = try store.open(.waiting(milliseconds: 300))
    try repository.save(contentsOf: (1...5).map { Account($0, balance: $0) })
    try clear(store.folder)
    for name in try FileManager.default.contentsOfDirectory(atPath: other.folder.path) {
      try FileManager.default.copyItem(
        at: other.folder.appendingPathComponent(name), to: store.folder.appendingPathComponent(name))
    }
    let acknowledged = try write(to: repository, "replaced")
    try? repository.close()
    let again = try store.open()
    let held = try again.fetch(Account.self).map(\.balance)
    try expect(
      held, equals: [77, 77, 77] + acknowledged,
      "acknowledged after the replacement: \(acknowledged); the path now holds")
    try again.save(Account(1, balance: 7))
    try again.close()
    try expect(store.open().find(Account.self, id: 1)?.balance, equals: 7, "a write to the other store")
  }

  @Sendable private static func rejected(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.save(contentsOf: (1...20).map { Account($0, balance: $0) })
    try repository.close()
    let files = try store.contents().filter { $0.value.count > 16 }.sorted { $0.value.count > $1.value.count }
    for (file, data) in files.prefix(2) {
      let target = store.folder.appendingPathComponent(file)
      try (Data(repeating: 0xA5, count: min(64, data.count)) + data.dropFirst(64)).write(to: target)
      let worker = try store.worker("reject")
      try worker.wait(for: "waiting")
      // In place, so that a lock on the file stays.
      try data.write(to: target)
      let what =
        "\(file) was damaged when another process, which lives on, \(worker.lines.first ?? "opened") it"
      try expect(worker.lines.contains("files 0"), "\(what); open files: \(worker.lines)")
      let again = try store.open(.waiting(milliseconds: 500))
      try again.save(Account(1, balance: 100))
      try expect(again.count(Account.self), equals: 20, "accounts; \(what)")
      try again.close()
      worker.release()
      try expect(worker.waitUntilOver() == .success, "\(what): \(worker.lines)")
    }
  }

  @Sendable private static func emptyFile(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let file = URL(fileURLWithPath: store.path)
    try Data().write(to: file)
    do {
      let reader = try store.open(.readOnly)
      try expect(reader.count(Account.self), equals: 0, "accounts in an empty file")
      try reader.close()
    } catch let error as PersistenceError {
      try expect([.notAStore, .missingStore].contains(error.code), "an empty file, opened to read: \(error)")
    }
    try expect(Data(contentsOf: file), equals: Data(), "the file after it was opened to read")
    do {
      var repository = try store.open()
      try repository.save(Account(1, balance: 1))
      if try store.reopen(&repository) {
        try expect(repository.count(Account.self), equals: 1, "accounts in the new store, reopened")
      }
      try repository.close()
    } catch let error as PersistenceError {
      try expect(error.code, equals: .notAStore, "an empty file, opened to write: \(error)")
      try expect(Data(contentsOf: file), equals: Data(), "the file after its opening was refused")
    }
  }
}
