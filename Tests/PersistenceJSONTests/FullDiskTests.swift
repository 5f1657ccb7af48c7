import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceJSON
import Testing

/// Full disks and read-only disks (contract E5), if this user may mount disks.
@Suite(.serialized, .enabled(if: SmallDisk.isAvailable, "mounting a disk needs its permission"))
struct FullDiskTests {
  private static func row(_ id: Int64, _ round: Int64) -> [PersistentValue] {
    Films.row(id, "\(round) " + String(repeating: "x", count: 2_000), "\(id)")
  }

  @Test("E5 W5 a full disk is an error, keeps committed data, and works again after space is freed")
  func full() throws {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    let disk = try #require(try SmallDisk(megabytes: 1, in: scratch))
    defer { disk.unmount() }
    let path = disk.folder.appendingPathComponent("store").path
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
    disk.fill()
    _ = Result { try again.delete(100) }
    try disk.clear()
    try again.transaction { transaction in
      let count = try transaction.deleteAll(in: Films.schema)
      #expect(count >= rows.count - 1)
    }
    try again.save(Self.row(1, 1))
    #expect(try again.rows() == [Self.row(1, 1)])
  }

  @Test("E5 a read-only disk can be read, and rejects writes")
  func readOnly() throws {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    let disk = try #require(try SmallDisk(megabytes: 1, in: scratch))
    defer { disk.unmount() }
    let path = disk.folder.appendingPathComponent("store").path
    try JSONDirectoryContext(path: path).save(Films.row(1, "One"))
    try disk.remountReadOnly()
    let error = try #require(throws: PersistenceError.self) { try JSONDirectoryContext(path: path) }
    #expect(error.code == .readOnly, "\(error)")
    let context = try JSONDirectoryContext(
      path: path, configuration: JSONDirectoryConfiguration(isReadOnly: true))
    #expect(try context.titles() == ["One"])
    #expect(try context.snapshot().titles() == ["One"])
    let other = try #require(throws: PersistenceError.self) { try context.save(Films.row(2, "Two")) }
    #expect(other.code == .readOnly)
  }

  @Test("W5 E5 a commit to a folder on another disk is refused before its commit point, and leaves nothing")
  func otherDisk() throws {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    let disk = try #require(try SmallDisk(megabytes: 1, in: scratch))
    defer { disk.unmount() }
    let place = try TemporaryStore()
    let context = try place.open()
    try context.save(Films.row(1, "One"))
    let (folder, moved) = ("\(place.path)/\(Films.folder)", disk.folder.appendingPathComponent("film").path)
    try FileManager.default.copyItem(atPath: folder, toPath: moved)
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: moved)
    let error = try #require(throws: PersistenceError.self) { try context.save(Films.row(2, "Two")) }
    #expect(error.code == .unsupported && error.engineError?.code == Int(EXDEV), "\(error)")
    #expect(try place.names(".persistence/journal") == [] && place.names(".persistence/stage") == [])
    #expect(try context.titles() == ["One"] && place.open().titles() == ["One"])
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.copyItem(atPath: moved, toPath: folder)
    try context.save(Films.row(2, "Two"))
    #expect(try context.titles() == ["One", "Two"])
  }
}

extension SmallDisk {
  fileprivate func remountReadOnly() throws {
    // A process that another test starts has the open files until it begins to run.
    var attempts = 0
    while mount("tmpfs", folder.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) != 0 {
      try #require(errno == EBUSY && attempts < 500)
      attempts += 1
      usleep(10_000)
    }
  }

  private var ballast: URL { folder.appendingPathComponent("ballast") }

  /// Uses all the space that is left.
  fileprivate func fill() {
    let file = open(ballast.path, O_WRONLY | O_CREAT, 0o600)
    defer { close(file) }
    let block = [UInt8](repeating: 0, count: 4096)
    while write(file, block, block.count) > 0 {}
  }

  fileprivate func clear() throws { try FileManager.default.removeItem(at: ballast) }
}
