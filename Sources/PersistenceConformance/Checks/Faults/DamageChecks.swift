import Foundation
import PersistenceCore
import PersistenceDriverSupport

/// E5: damaged stores.
enum DamageChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a damaged file throws an error that describes the damage; it is not overwritten and does not crash",
      [.e5], needs: [.writable, .files], damages)
  ]

  /// A kind of damage to one file of a store.
  private static let damages: [(name: String, apply: @Sendable (Data) -> Data)] = [
    ("cut to half", { $0.prefix($0.count / 2) }), ("emptied", { _ in Data() }),
    (
      "its first 64 bytes overwritten", { Data(repeating: 0xA5, count: min(64, $0.count)) + $0.dropFirst(64) }
    ),
    (
      "its middle overwritten",
      { data in
        let start = data.count / 2 / 4096 * 4096
        let end = min(start + 4096, data.count)
        var random = SeededGenerator(seed: 95)
        return data.prefix(start) + Data((start..<end).map { _ in UInt8(random.int(0...255)) })
          + data.dropFirst(end)
      }
    ),
  ]

  /// Error codes that describe damage.
  private static let codes: [PersistenceError.Code] = [.damaged, .notAStore, .schemaMismatch, .missingStore]

  @Sendable private static func damages(_ context: ContextUnderTest) throws {
    let original = try context.makeStore()
    let repository = try original.open()
    try repository.save(contentsOf: (1...4).map { Account($0, balance: $0) })
    var people = Person.random(4, seed: 96)
    for index in people.indices { people[index].name = String(repeating: "name \(index) ", count: 300) }
    try repository.save(contentsOf: people)
    let digest = try StoreDigest.of(repository)
    let nothing = try StoreDigest.of(Repository(MemoryContext()))
    try repository.close()
    let intact = try original.contents().filter { !$0.value.isEmpty }
    for (file, data) in intact {
      for damage in Self.damages {
        let what = "\(file) \(damage.name)"
        let store = try context.makeStore()
        try FileManager.default.removeItem(at: store.folder)
        try FileManager.default.copyItem(at: original.folder, to: store.folder)
        let target = store.folder.appendingPathComponent(file)
        let damaged = damage.apply(data)
        try damaged.write(to: target)
        let worker = try store.worker("digest")
        let ending = worker.waitUntilOver()
        try expect(!ending.isSignal, "\(what): ended by signal \(ending.status)")
        let line = worker.lines.last ?? "nothing"
        // Either the damage is detected, or all data reads unchanged.
        let isNoticed = Self.codes.contains { line.hasPrefix("error \($0.rawValue)") }
        // An empty file may be a store without any write.
        let isNew = damaged.isEmpty && line == "digest \(nothing)"
        try expect(isNoticed || isNew || line == "digest \(digest)", "\(what): \(line)")
        if isNoticed { try expect(Data(contentsOf: target), equals: damaged, "\(what) was overwritten") }
        try? FileManager.default.removeItem(at: store.folder)
      }
    }
  }
}
