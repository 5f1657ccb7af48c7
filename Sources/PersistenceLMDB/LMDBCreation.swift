import CLMDB
import Foundation
import PersistenceDriver
import PersistenceKeyValue

/// Makes a new store so that `data.mdb` is there whole or not at all.
///
/// It is made beside its place and moved there when it is durable. So a maker that was killed leaves nothing that
/// could be taken for a store, and an empty `data.mdb` is never new but always damaged.
enum LMDBCreation {
  private static let stageName = "new.mdb"
  private static let stageLockName = "new.mdb-lock"

  /// What a maker that was killed may leave in the folder of a store that is not there yet.
  static let names = [LMDBFiles.lockName, LMDBWriterLock.name, stageName, stageLockName]

  /// Makes a store in a folder; does nothing where another process was quicker.
  static func make(in directory: String, _ configuration: LMDBConfiguration) throws {
    let timeout = configuration.busyTimeout
    let turn = try LMDBFileLock(directory + "/" + LMDBWriterLock.name, flags: O_RDWR | O_CREAT)
    try turn.lock(until: .now + timeout, timeout: timeout)
    defer { turn.unlock() }
    guard access(directory + "/" + LMDBFiles.dataName, F_OK) != 0 else { return }
    let stage = directory + "/" + stageName
    let lock = directory + "/" + stageLockName
    unlink(stage)
    unlink(lock)
    do {
      let settings = LMDBSettings(configuration)
      try LMDBFiles.reserve(lock, readers: settings.maximumReaders)
      let handle = try LMDBHandle(path: stage, isFile: true, header: nil, settings)
      defer { handle.close() }
      _ = try handle.openSpaces(create: true)
      let writer = try LMDBTransaction(handle, .full)
      defer { writer.abort() }
      try Catalog.create(in: writer)
      try writer.commit()
    } catch {
      unlink(stage)
      unlink(lock)
      throw (error as? PersistenceError)?.at(location: directory) ?? error
    }
    unlink(lock)
    guard rename(stage, directory + "/" + LMDBFiles.dataName) == 0 else {
      throw LMDBFailure(code: errno, action: "make the store").error(location: directory)
    }
    try LMDBFiles.synchronize(directory)
  }
}
