import Foundation
import PersistenceCore

/// E5: blocks that are damaged while a store is open, after its opening has found them whole.
enum DamagedOpenStoreChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a block that is damaged in an open store is detected by every read of it, or what was written is read",
      [.e5], needs: [.writable, .files, .durable, .detectingDamage], detected
    ).slow
  ]

  @Sendable private static func detected(_ context: ContextUnderTest) throws {
    let (store, _) = try DamagedBlockChecks.filled(context)
    let expected = try answers(store, nil)
    try expect(
      expected.count, equals: ReadAnswers.all.count, "the answers of an undamaged store: \(expected)")
    // The file keeps its size: readers of a map need not expect that others cut it off.
    let damages = try DamagedBlockChecks.variants(store, context, atMost: 10) { $0.keepsSize }
    for variant in damages.variants {
      let found = try answers(copy(store), variant)
      try expect(found.count, equals: expected.count, "\(variant.name) of \(variant.file): \(found)")
      for (found, whole) in zip(found, expected) where found != whole {
        try expect(
          found.contains(" refused "),
          "\(variant.file), \(variant.name) while the store was open: changed records were read, \(found) instead of \(whole)"
        )
      }
    }
  }

  private static func copy(_ store: StoreUnderTest) throws -> StoreUnderTest {
    let copy = try store.context.makeStore()
    for name in try FileManager.default.contentsOfDirectory(atPath: store.folder.path) {
      try FileManager.default.copyItem(
        at: store.folder.appendingPathComponent(name), to: copy.folder.appendingPathComponent(name))
    }
    return copy
  }

  /// What a worker reads that opened the store before a file was damaged in place.
  private static func answers(_ store: StoreUnderTest, _ variant: StoreVariants.Variant?) throws -> [String] {
    let worker = try store.worker("probe")
    defer { worker.kill() }
    try worker.wait(for: "open")
    if let variant {
      let file = store.folder.appendingPathComponent(variant.file)
      let handle = try FileHandle(forWritingTo: file)
      try handle.write(contentsOf: variant.apply(Data(contentsOf: file)))
      try handle.close()
    }
    worker.proceed()
    worker.release()
    let ending = worker.waitUntilOver()
    try expect(ending == .success, "\(variant?.name ?? "no damage"): \(ending), \(worker.lines.suffix(3))")
    return worker.lines.filter { $0.hasPrefix("read ") }
  }
}

/// The accesses to a store whose files may be damaged: by key, by an index, by a scan, and all of it.
private enum ReadAnswers {
  static let all: [(name: String, read: @Sendable (Repository) throws -> String)] = [
    (
      "by key",
      { repository in try (1...4).map { "\(try repository.find(Account.self, id: $0) as Any)" }.joined() }
    ),
    (
      "by a unique index",
      { repository in
        try (0..<6).map { number in
          let found = repository.filter(Person.self, where: \.email == "\(number)@example.org")
          return try found.result().map { "\($0)" }.joined()
        }.joined()
      }
    ),
    (
      "by an index",
      { repository in
        try (0...5).map { age in
          "\(try repository.filter(Person.self, where: \.age == age).result().count)"
        }.joined(separator: " ")
      }
    ),
    (
      "by a scan",
      { repository in "\(try repository.filter(Account.self, where: \.note != "x").result().count)" }
    ),
    ("whole", { repository in try StoreDigest.of(repository) }),
  ]
}

extension ConformanceWorker {
  /// `probe`: opens a store, and after a line of standard input reads it in several ways.
  @Sendable static func probe(_ store: WorkerStore, _ arguments: [String]) throws {
    let repository = try store.open()
    _ = try repository.find(Account.self, id: 1)
    say("open")
    guard readLine() != nil else { return }
    for (name, read) in ReadAnswers.all {
      do {
        let text = try read(repository)
        say("read \(name): \(Array(text.utf8).withUnsafeBytes(Checksum.of))")
      } catch let error as PersistenceError {
        say("read \(name) refused \(error.code.rawValue)")
      }
    }
  }
}
