import Foundation
import PersistenceConformance
import PersistenceDriver
import Testing

@testable import PersistenceKeyValue

@Suite("Sorting in bounded memory")
struct EntrySorterTests {
  private let folder = FileManager.default.temporaryDirectory.path

  /// Entries with distinct keys, some longer than a run's read buffer.
  private func entries(_ count: Int, _ random: inout SeededGenerator) -> [[UInt8]: [UInt8]] {
    var entries: [[UInt8]: [UInt8]] = [:]
    while entries.count < count {
      let length = random.oneIn(50) ? random.int(4000...9000) : random.int(0...40)
      let key = (0..<length).map { _ in UInt8(random.pick([0, 1, 0xFF, random.int(0...255)])) }
      entries[key] = (0..<random.int(0...20)).map { _ in UInt8(random.int(0...255)) }
    }
    return entries
  }

  private func read(_ sorter: EntrySorter, limit: Int = .max) throws -> [[[UInt8]]] {
    var found: [[[UInt8]]] = []
    while found.count < limit, let entry = try sorter.entry() {
      found.append([[UInt8](entry.key), [UInt8](entry.value)])
    }
    return found
  }

  @Test(
    "the sorter returns all entries in order, any number of times",
    arguments: [(0, 1000), (1, 1000), (500, 1 << 30), (500, 3000), (2000, 500), (2000, 100_000)])
  func order(count: Int, memory: Int) throws {
    var random = SeededGenerator(seed: UInt64(count + memory))
    let entries = entries(count, &random)
    let sorter = EntrySorter(memory: memory, folder: folder)
    for (key, value) in entries {
      try key.withUnsafeBytes { key in try value.withUnsafeBytes { try sorter.add(key, $0) } }
    }
    try sorter.finish()
    let expected = entries.sorted { ByteOrder.compare($0.key, $1.key) < 0 }.map { [$0.key, $0.value] }
    #expect(try read(sorter) == expected)
    #expect(try sorter.entry() == nil)
    for limit in [0, 1, count / 2] {
      sorter.rewind()
      #expect(try read(sorter, limit: limit) == Array(expected.prefix(limit)))
    }
    sorter.rewind()
    #expect(try read(sorter) == expected)
  }

  @Test("an unusable folder throws an error that names it, and no file outlives the sorter")
  func files() throws {
    let missing = EntrySorter(memory: 0, folder: folder + "/not there")
    let error = #expect(throws: PersistenceError.self) {
      try [UInt8](repeating: 1, count: 9).withUnsafeBytes { try missing.add($0, $0) }
    }
    #expect(error?.code == .inputOutput && error?.location?.hasSuffix("not there") == true)
    let own = FileManager.default.temporaryDirectory.appending(path: "sorter-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: own) }
    let sorter = EntrySorter(memory: 0, folder: own.path)
    for byte in UInt8(0)..<9 { try [byte].withUnsafeBytes { try sorter.add($0, $0) } }
    try sorter.finish()
    #expect(try FileManager.default.contentsOfDirectory(atPath: own.path).isEmpty)
    #expect(try read(sorter).count == 9)
  }
}
