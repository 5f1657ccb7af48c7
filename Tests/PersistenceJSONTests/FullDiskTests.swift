import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceJSON

/// Disks that are full and disks that may only be read (contract E5), where this user may mount some.
@Suite(.serialized, .enabled(if: SmallDisk.isAvailable, "mounting a disk needs its permission"))
struct FullDiskTests {
  private static func row(_ id: Int64, _ round: Int64) -> [PersistentValue] {
    Films.row(id, "\(round) " + String(repeating: "x", count: 2_000), "\(id)")
  }

  @Test("E5 W5 a full disk is told, keeps what was committed, and is of use again when there is room")
  func full() throws {
    let disk = try SmallDisk()
    let path = disk.path + "/store"
    let context = try JSONDirectoryContext(path: path)
    try context.save(Self.row(0, 0))
    var committed: Int64 = 0
    var refusals = 0
    for round in 1..<200 as Range<Int64> {
      do {
        try context.transaction { transaction in
          for id in 0..<20 as Range<Int64> { try transaction.save(Self.row(round * 100 + id, round)) }
        }
        committed = round
      } catch let error as PersistenceError {
        #expect(error.code == .storeFull, "\(error)")
        #expect(error.engineError?.code == Int(ENOSPC))
        refusals += 1
        if refusals == 3 { break }
      }
    }
    #expect(refusals == 3 && committed > 0)
    let rows = try context.rows()
    #expect(rows.count == 1 + 20 * Int(committed))
    // Small transactions until not even one file fits; the newest state is read at each.
    var value: Int64 = 0
    while true {
      let result = Result { try context.save(Self.row(0, value + 1)) }
      if case .failure(let error) = result {
        #expect((error as? PersistenceError)?.code == .storeFull, "\(error)")
        break
      }
      value += 1
      if value > 50 { break }
    }
    #expect(try context.row(Films.key(0)) == Self.row(0, value))
    let again = try JSONDirectoryContext(path: path)
    #expect(try again.rows().count == rows.count)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/.persistence/stage") == [])
    // A full disk does not keep anybody from making room.
    try disk.fill()
    _ = Result { try again.delete(100) }
    try disk.clear()
    try again.transaction { transaction in
      let count = try transaction.deleteAll(in: Films.schema)
      #expect(count >= rows.count - 1)
    }
    try again.save(Self.row(1, 1))
    #expect(try again.rows() == [Self.row(1, 1)])
  }

  @Test("E5 a disk that may only be read is read, and refused for writing")
  func readOnly() throws {
    let disk = try SmallDisk()
    let path = disk.path + "/store"
    try JSONDirectoryContext(path: path).save(Films.row(1, "One"))
    try disk.mountAgain("ro")
    let error = try #require(throws: PersistenceError.self) { try JSONDirectoryContext(path: path) }
    #expect(error.code == .readOnly, "\(error)")
    let context = try JSONDirectoryContext(
      path: path, configuration: JSONDirectoryConfiguration(isReadOnly: true))
    #expect(try context.titles() == ["One"])
    #expect(try context.snapshot().titles() == ["One"])
    let other = try #require(throws: PersistenceError.self) { try context.save(Films.row(2, "Two")) }
    #expect(other.code == .readOnly)
  }
}

/// A file system of a megabyte in memory.
final class SmallDisk {
  static let isAvailable = (try? SmallDisk()) != nil
  let path: String

  struct Refused: Error {}

  init() throws {
    path = NSTemporaryDirectory() + "persistence-disk-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    do {
      try Self.run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", path)
    } catch {
      try? FileManager.default.removeItem(atPath: path)
      throw error
    }
  }

  deinit {
    try? Self.run("umount", "-l", path)
    try? FileManager.default.removeItem(atPath: path)
  }

  func mountAgain(_ mode: String) throws { try Self.run("mount", "-o", "remount,\(mode)", path) }

  /// Takes all room that is left.
  func fill() throws {
    let file = open(path + "/ballast", O_WRONLY | O_CREAT, 0o600)
    defer { close(file) }
    let block = [UInt8](repeating: 0, count: 4096)
    while write(file, block, block.count) > 0 {}
  }

  func clear() throws { try FileManager.default.removeItem(atPath: path + "/ballast") }

  private static func run(_ command: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Refused() }
  }
}
