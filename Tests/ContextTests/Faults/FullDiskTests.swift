import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("E5 E7: stores that cannot grow", .serialized)
struct FullDiskTests {
  /// Looks at a store that was filled until the medium refused: what was acknowledged is there, whole.
  private func expectWhole(
    _ worker: WorkerProcess, _ store: StoreUnderTest, at sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(worker.waitUntilOver() == .success, "\(worker.lines.suffix(4))", sourceLocation: sourceLocation)
    let acknowledged = worker.acknowledged
    #expect(acknowledged > 0, "\(worker.lines)", sourceLocation: sourceLocation)
    // The process that met the refusal could still read.
    #expect(
      worker.lines.contains("count \(acknowledged)"), "\(worker.lines.suffix(4))",
      sourceLocation: sourceLocation)
    let repository = try store.open()
    let blobs = try repository.fetch(Blob.self)
    #expect(blobs.map(\.id) == Array(0..<acknowledged), sourceLocation: sourceLocation)
    #expect(blobs.allSatisfy { $0.bytes == WorkerCommand.bytes($0.id) }, sourceLocation: sourceLocation)
    // With space again, writing goes on.
    try repository.save(
      contentsOf: (0..<4).map { Blob(acknowledged + $0, WorkerCommand.bytes(acknowledged + $0)) })
    #expect(try repository.count(Blob.self) == acknowledged + 4, sourceLocation: sourceLocation)
    try repository.close()
  }

  @Test(
    "E5 a full disk is storeFull; what was committed is there, and with space again writing goes on",
    arguments: ContextUnderTest.durable("E5 full disks"))
  func fullDisk(context: ContextUnderTest) throws {
    guard let disk = try SmallDisk(megabytes: 4) else {
      print("excused: \(context) from E5 full disks, which needs the right to mount a file system")
      return
    }
    defer { disk.unmount() }
    let filler = disk.folder.appendingPathComponent("filler")
    try Data(repeating: 1, count: 1 << 20).write(to: filler)
    let store = StoreUnderTest(context, folder: disk.folder)
    let worker = try WorkerProcess(["fill", store.url()])
    worker.waitUntilOver()
    let refusal = worker.lines.first { $0.hasPrefix("refused ") } ?? ""
    #expect(refusal.hasPrefix("refused storeFull"), "\(worker.lines.suffix(4))")
    try FileManager.default.removeItem(at: filler)
    try expectWhole(worker, store)
  }

  @Test(
    "E5 a file that may not grow is an error, not the end of the process; what was committed is there",
    arguments: ContextUnderTest.durable("E5 files that may not grow"))
  func fileSizeLimit(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let worker = try WorkerProcess(["fill", store.url(), "1000000", "400"])
    #expect(worker.waitUntilOver() == .success, "\(worker.lines.suffix(4))")
    if let refusal = worker.lines.first(where: { $0.hasPrefix("refused ") }) {
      let codes = [PersistenceError.Code.storeFull, .inputOutput].map { "refused \($0.rawValue)" }
      #expect(codes.contains { refusal.hasPrefix($0) }, "\(refusal)")
    } else {
      // Where each record has a file of its own, none grows.
      #expect(worker.acknowledged == 400)
    }
    try expectWhole(worker, store)
  }

  @Test(
    "E7 a store that has reached its declared size throws storeFull naming the option; nothing is lost",
    arguments: ContextUnderTest.all.filter { $0.smallestStore != nil })
  func declaredSize(context: ContextUnderTest) throws {
    let options = context.smallestStore ?? [:]
    let store = try context.makeStore()
    let repository = try store.open(options)
    try repository.save(contentsOf: (1...400).map { Account($0, balance: 7) })
    var held: PersistentResults<Account>? = try repository.filter(Account.self).result()
    var number = 0
    var error: PersistenceError?
    while error == nil && number < 10_000 {
      do {
        try repository.save(contentsOf: (0..<4).map { Blob(number + $0, WorkerCommand.bytes(number + $0)) })
        number += 4
      } catch let failure as PersistenceError {
        error = failure
      }
    }
    #expect(error?.code == .storeFull && number > 0, "\(String(describing: error))")
    for option in options.keys {
      #expect(error?.message.contains(option) == true, "\(String(describing: error))")
    }
    #expect(held?.map(\.balance) == Array(repeating: 7, count: 400))
    #expect(try repository.count(Blob.self) == number)
    #expect(try repository.fetch(Blob.self).allSatisfy { $0.bytes == WorkerCommand.bytes($0.id) })
    // Deleting makes room, once no result keeps the old state.
    held = nil
    for id in stride(from: 0, to: number, by: 2) { try repository.delete(Blob.self, id: id) }
    try repository.save(contentsOf: (0..<4).map { Blob($0 * 2, WorkerCommand.bytes($0 * 2)) })
    #expect(try repository.count(Blob.self) == number / 2 + 4)
    try repository.close()
    #expect(try store.open().count(Account.self) == 400)
  }
}
