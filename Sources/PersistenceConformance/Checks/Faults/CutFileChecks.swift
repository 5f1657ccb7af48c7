import Foundation
import PersistenceCore

/// E5: files that other programs cut off while they are open.
enum CutFileChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a file that is cut off while it is open is read as it was, or throws, and does not end the process",
      [.e5],
      needs: [.writable, .files, .multiProcess, .unmappedFiles], cut
    ).slow
  ]

  @Sendable private static func cut(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let note = String(repeating: "0123456789abcdef", count: 8)
    try repository.save(contentsOf: (1...400).map { Account($0, balance: $0, note: note) })
    try repository.close()
    let worker = try store.worker("reread")
    try worker.wait(for: "read")
    // The largest file has records; locks and the like are small.
    let largest = try store.contents().max { $0.value.count < $1.value.count }
    let (file, bytes) = try require(largest, "the store has no file")
    let handle = try FileHandle(forWritingTo: store.folder.appendingPathComponent(file))
    try handle.truncate(atOffset: UInt64(bytes.count / 2))
    try handle.close()
    worker.proceed()
    worker.release()
    let ending = worker.waitUntilOver()
    try expect(
      ending == .success,
      "another process had read the store when \(file) was cut off to half, and read again: "
        + "\(ending), \(worker.lines)")
    let codes: [PersistenceError.Code] = [.damaged, .notAStore, .inputOutput, .missingStore]
    let allowed = [worker.lines.first ?? ""] + codes.map { "refused \($0.rawValue)" }
    try expect(
      allowed.contains(worker.lines.last ?? ""),
      "\(file) was cut off to half between two reads: \(worker.lines)")
  }
}

extension ConformanceWorker {
  /// `reread`: reads the accounts, and once more for each line of standard input.
  @Sendable static func reread(_ store: WorkerStore, _ arguments: [String]) throws {
    let repository = try store.open()
    repeat {
      do {
        let accounts = try repository.fetch(Account.self)
        say("read \(accounts.count) \(accounts.reduce(0) { $0 &+ $1.balance })")
      } catch let error as PersistenceError {
        say("refused \(error.code.rawValue)")
      }
    } while readLine() != nil
  }
}
