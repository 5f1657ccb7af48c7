import Foundation
import PersistenceCore

/// E5 E7: stores that cannot grow.
enum FullDiskChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a full disk throws storeFull, keeps committed records, and accepts writes when space is free again",
      [.e5], needs: [.writable, .files, .fillableDisk], fullDisk),
    ConformanceCheck(
      "a file size limit throws an error, does not end the process, and keeps committed records", [.e5],
      needs: [.writable, .files], fileSizeLimit),
    ConformanceCheck(
      "a store at its declared size throws storeFull, names the option, and loses nothing", [.e7],
      needs: [.writable, .boundedStore], declaredSize),
  ]

  /// Checks a store that was filled until the medium failed: all acknowledged records are complete.
  private static func expectWhole(
    _ worker: WorkerProcess, _ store: StoreUnderTest, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    try expect(worker.waitUntilOver() == .success, "\(worker.lines.suffix(4))")
    let acknowledged = worker.acknowledged
    try expect(acknowledged > 0, "\(worker.lines)")
    // The process could still read after the failure.
    try expect(worker.lines.contains("count \(acknowledged)"), "\(worker.lines.suffix(4))")
    let repository = try store.open()
    let blobs = try repository.fetch(Blob.self)
    try expect(blobs.map(\.id), equals: Array(0..<acknowledged))
    try expect(blobs.allSatisfy { $0.bytes == ConformanceWorker.bytes($0.id) })
    // With free space, writing continues.
    try repository.save(
      contentsOf: (0..<4).map { Blob(acknowledged + $0, ConformanceWorker.bytes(acknowledged + $0)) })
    try expect(repository.count(Blob.self), equals: acknowledged + 4)
    try repository.close()
  }

  @Sendable private static func fullDisk(_ context: ContextUnderTest) throws {
    let disk = try require(SmallDisk(megabytes: 4, in: context.requireScratch()))
    defer { disk.unmount() }
    let filler = disk.folder.appendingPathComponent("filler")
    try Data(repeating: 1, count: 1 << 20).write(to: filler)
    let store = StoreUnderTest(context, folder: disk.folder)
    let worker = try store.worker("fill")
    worker.waitUntilOver()
    let refusal = worker.lines.first { $0.hasPrefix("refused ") } ?? ""
    try expect(refusal.hasPrefix("refused storeFull"), "\(worker.lines.suffix(4))")
    try FileManager.default.removeItem(at: filler)
    try expectWhole(worker, store)
  }

  @Sendable private static func fileSizeLimit(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let worker = try store.worker("fill", "1000000", "400")
    try expect(worker.waitUntilOver() == .success, "\(worker.lines.suffix(4))")
    if let refusal = worker.lines.first(where: { $0.hasPrefix("refused ") }) {
      let codes = [PersistenceError.Code.storeFull, .inputOutput].map { "refused \($0.rawValue)" }
      try expect(codes.contains { refusal.hasPrefix($0) }, "\(refusal)")
    } else {
      // If each record has its own file, none reaches the limit.
      try expect(worker.acknowledged, equals: 400)
    }
    try expectWhole(worker, store)
  }

  @Sendable private static func declaredSize(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open(.smallest)
    try repository.save(contentsOf: (1...400).map { Account($0, balance: 7) })
    var held: PersistentResults<Account>? = try repository.filter(Account.self).result()
    var number = 0
    var error: PersistenceError?
    while error == nil && number < 10_000 {
      do {
        try repository.save(
          contentsOf: (0..<4).map { Blob(number + $0, ConformanceWorker.bytes(number + $0)) })
        number += 4
      } catch let failure as PersistenceError {
        error = failure
      }
    }
    let full = try require(error, "\(number) records fit into the smallest store")
    try expect(full.code == .storeFull && number > 0, "\(number) records, \(full)")
    // The message names the option to change.
    try expect(full.message.lowercased().contains("size"), "\(full)")
    try expect(held?.map(\.balance), equals: Array(repeating: 7, count: 400))
    try expect(repository.count(Blob.self), equals: number)
    try expect(repository.fetch(Blob.self).allSatisfy { $0.bytes == ConformanceWorker.bytes($0.id) })
    // Deleting frees space once no result pins the old state.
    held = nil
    for id in stride(from: 0, to: number, by: 2) { try repository.delete(Blob.self, id: id) }
    try repository.save(contentsOf: (0..<4).map { Blob($0 * 2, ConformanceWorker.bytes($0 * 2)) })
    try expect(repository.count(Blob.self), equals: number / 2 + 4)
    try repository.close()
    try expect(store.open().count(Account.self), equals: 400)
  }
}
