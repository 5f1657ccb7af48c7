import Foundation
import PersistenceCore

/// C3: what contexts leave behind.
enum ResourceChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "opening, using and closing a store many times leaves no descriptors, threads, memory or files behind",
      [.c3], needs: [.writable, .durable], cycles
    ).slow,
    ConformanceCheck(
      "updates, and released results and snapshots, leave no old versions in the store", [.c3],
      needs: [.writable, .files, .reclaimingSpace], growth
    ).slow,
    ConformanceCheck(
      "a context that is closed and released has no file open", [.c3, .r3], needs: [.writable, .files], closed
    ),
  ]

  @Sendable private static func cycles(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let count = context.effort.times(200, thorough: 3_000)
    func use(_ count: Int) throws -> WorkerProcess {
      let worker = try store.worker("cycle", "\(count)")
      try expect(worker.waitUntilOver() == .success, "\(worker.lines.suffix(2))")
      return worker
    }
    _ = try use(1)
    let files = try store.contents().keys.sorted()
    let worker = try use(count)
    func numbers(_ what: String) throws -> (before: Int, halfway: Int, after: Int) {
      let line = worker.lines.first { $0.hasPrefix(what) } ?? ""
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      try expect(numbers.count, equals: 3, "the worker's counts of \(what): \(worker.lines)")
      return (numbers[0], numbers[1], numbers[2])
    }
    for what in ["descriptors", "threads"] {
      let (before, _, after) = try numbers(what)
      // A pool may grow by a few.
      try expect(
        after <= before + 16,
        "\(what) before and after \(count) openings and closings: \(before) and \(after)")
    }
    // An allocator keeps memory too, less and less; a leak goes on. The slack is half of 100 KiB for each of 100 cycles.
    let memory = try numbers("memory")
    let (first, second) = (memory.halfway - memory.before, memory.after - memory.halfway)
    try expect(
      second <= 5 << 20 || second < first / 2,
      "the first half of \(count) openings and closings keeps \(first) bytes of memory, the second \(second)")
    let after = try store.contents().keys.sorted()
    try expect(
      after.count <= files.count + 8,
      "files before and after \(count) openings and closings: \(files.count) and \(after.count), such as "
        + "\(after.filter { !files.contains($0) }.prefix(3))")
  }

  /// The size of all files of a store, in bytes.
  private static func size(_ store: StoreUnderTest) throws -> Int {
    try store.contents().reduce(0) { $0 + $1.value.count }
  }

  @Sendable private static func growth(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var random = SeededGenerator(seed: 98)
    // More records than a page, so that a result keeps its snapshot.
    func write(_ repository: Repository) throws {
      try repository.save(
        contentsOf: (0..<300).map { id in
          // 100 KiB in total, which no engine can compress.
          let words = (0..<43).map { _ in random.next() }
          return Blob(id, words.withUnsafeBytes { Data($0) })
        })
    }
    var repository = try store.open()
    try write(repository)
    try repository.close()
    let before = try size(store)
    repository = try store.open()
    // Each round releases what the previous one holds: in turn a result that was begun, and a snapshot.
    var held: (result: PersistentResults<Blob>?, snapshot: (any StorageSnapshot)?)
    let rounds = context.effort.times(50, thorough: 2_000)
    for round in 1...rounds {
      try write(repository)
      let isResult = round.isMultiple(of: 2)
      held.result = isResult ? try repository.filter(Blob.self).result() : nil
      held.snapshot = isResult ? nil : try repository.storage.snapshot()
      if isResult { try expect(held.result?.first?.id, equals: 0, "the first record in round \(round)") }
    }
    held = (nil, nil)
    for _ in 0..<3 { try write(repository) }
    try repository.close()
    try store.open().close()
    let after = try size(store)
    try expect(
      after <= 3 * before + (2 << 20),
      "after \(rounds) updates of \(300 * 43 * 8) bytes, a store of \(before) bytes has \(after) bytes")
  }

  @Sendable private static func closed(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    func use() throws {
      let repository = try store.open()
      try repository.save(contentsOf: (1...300).map { Account($0, balance: $0) })
      do {
        let result = try repository.filter(Account.self).result()
        let snapshot = try repository.storage.snapshot()
        try expect(snapshot.count(FetchRequest(Account.schema.model)), equals: 300, "rows of the snapshot")
        var iterator = result.makeIterator()
        for _ in 0..<200 { _ = iterator.next() }
      }
      try? repository.transaction { _ in throw SuiteError() }
      try repository.close()
    }
    for round in 1...3 {
      try use()
      let repository = try store.open()
      try expect(repository.count(Account.self), equals: 300, "rows in round \(round)")
      try repository.close()
    }
    // A context may end its work on a thread of its own.
    for _ in 0..<200 where ProcessResources.openFiles(in: store.folder.path) > 0 { usleep(10_000) }
    try expect(
      ProcessResources.openFiles(in: store.folder.path), equals: 0,
      "open files of the store, after its contexts were closed and released")
  }
}
