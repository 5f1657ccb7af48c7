import Foundation
import OrderedFile
import PersistenceDriver
import PersistenceKeyValue
import Testing

/// What a store holds after a writer died, or after its file was changed.
@Suite("OrderedFile: recovery")
final class RecoveryTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ordered-\(UUID())")
  private var path: String { folder.appendingPathComponent("store").path }
  private var file: URL { URL(fileURLWithPath: path) }

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: folder) }

  private func write(_ keys: [String], to store: OrderedFileStore) throws {
    let transaction = try #require(try store.beginWriting(until: .now))
    for key in keys {
      try Array(key.utf8).withUnsafeBytes { try transaction.put($0, $0, in: .records) }
    }
    try transaction.commit()
  }

  private func keys(of store: OrderedFileStore) throws -> [String] {
    let cursor = try store.beginReading().cursor(in: .records)
    var keys: [String] = []
    var next = try [UInt8]().withUnsafeBytes { try cursor.seek($0) }
    while let entry = next {
      keys.append(String(decoding: entry.key, as: UTF8.self))
      next = try cursor.next()
    }
    return keys
  }

  @Test("W5: a batch that a killed writer wrote in part is cut off, at any length")
  func tornBatch() throws {
    try write(["a"], to: OrderedFileStore(path: path))
    let first = try Data(contentsOf: file)
    try write(["b"], to: OrderedFileStore(path: path))
    let second = try Data(contentsOf: file)
    for length in first.count..<second.count {
      // The headers are those of the first commit.
      try (first.prefix(8192) + second[8192..<length]).write(to: file)
      #expect(try keys(of: OrderedFileStore(path: path, isReadOnly: true)) == ["a"])
      #expect(try Data(contentsOf: file).count == length, "a read-only opening writes nothing")
      #expect(try keys(of: OrderedFileStore(path: path)) == ["a"])
      #expect(try Data(contentsOf: file).count == first.count)
    }
  }

  @Test("W5: a whole batch without its header is found, also read-only, and the next commit follows it")
  func unnamedBatch() throws {
    try write(["a"], to: OrderedFileStore(path: path))
    let headers = try Data(contentsOf: file).prefix(8192)
    try write(["b"], to: OrderedFileStore(path: path))
    try (headers + Data(contentsOf: file).dropFirst(8192)).write(to: file)
    #expect(try keys(of: OrderedFileStore(path: path, isReadOnly: true)) == ["a", "b"])
    let store = try OrderedFileStore(path: path)
    try write(["c"], to: store)
    #expect(try keys(of: OrderedFileStore(path: path)) == ["a", "b", "c"])
  }

  @Test("E5: a committed batch that is cut or changed is damaged, and nothing is written")
  func damage() throws {
    let store = try OrderedFileStore(path: path)
    for key in ["a", "b", "c"] { try write([key], to: store) }
    let whole = try Data(contentsOf: file)
    for offset in stride(from: 8192, to: whole.count, by: 7) {
      var changed = whole
      changed[offset] ^= 0x40
      for damaged in [changed, whole.prefix(offset)] {
        try damaged.write(to: file)
        let error = #expect(throws: PersistenceError.self) { try OrderedFileStore(path: path) }
        #expect(error?.code == .damaged)
        #expect(try Data(contentsOf: file) == damaged)
      }
    }
  }

  @Test("E5: one torn header loses no commit")
  func tornHeader() throws {
    let store = try OrderedFileStore(path: path)
    for key in ["a", "b", "c"] { try write([key], to: store) }
    let whole = try Data(contentsOf: file)
    for start in [0, 4096] {
      try (whole.prefix(start) + Data(count: 32) + whole.dropFirst(start + 32)).write(to: file)
      #expect(try keys(of: OrderedFileStore(path: path)) == ["a", "b", "c"])
    }
  }

  @Test("a store whose file was removed or replaced neither reads nor acknowledges a commit")
  func removed() throws {
    let store = try OrderedFileStore(path: path)
    let transaction = try #require(try store.beginWriting(until: .now))
    try FileManager.default.removeItem(at: file)
    #expect(throws: PersistenceError.self) { try transaction.commit() }
    transaction.rollback()
    _ = try OrderedFileStore(path: path)
    #expect(throws: PersistenceError.self) { try store.beginReading() }
    #expect(throws: PersistenceError.self) { try store.beginWriting(until: .now) }
  }

  @Test("W6: a second writer gets nothing until the first one ends, and a rollback leaves no trace")
  func lock() throws {
    let (first, second) = (try OrderedFileStore(path: path), try OrderedFileStore(path: path))
    let transaction = try #require(try first.beginWriting(until: .now))
    try Array("a".utf8).withUnsafeBytes { try transaction.put($0, $0, in: .records) }
    #expect(try second.beginWriting(until: .now) == nil)
    #expect(try keys(of: second) == [])
    transaction.rollback()
    try write(["b"], to: second)
    #expect(try keys(of: first) == ["b"])
  }
}
