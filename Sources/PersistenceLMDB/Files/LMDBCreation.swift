import CLMDB
import Foundation
import PersistenceDriver
import PersistenceKeyValue

/// Creates a store atomically: `data.mdb` appears complete or not at all.
///
/// The file is created under another name and renamed once it is durable. A crash therefore leaves nothing
/// that looks like a store, and an empty `data.mdb` is always damaged, never new.
enum LMDBCreation {
  private static let stageName = "new.mdb"
  private static let stageLockName = "new.mdb-lock"

  /// The files that a crash may leave in the folder of an uncreated store.
  static let names = [LMDBFiles.lockName, LMDBWriterLock.name, stageName, stageLockName]

  /// Waits for other creators of a store; one that failed has removed the file for which others wait.
  private static func takeTurn(in directory: String, _ timeout: Duration) throws -> LMDBFileLock {
    let deadline = ContinuousClock.now + timeout
    while true {
      let turn = try LMDBFileLock(directory + "/" + LMDBWriterLock.name, flags: O_RDWR | O_CREAT)
      try turn.lock(until: deadline, timeout: timeout)
      if turn.isInPlace { return turn }
    }
  }

  /// Creates a store in a folder, unless another process has created it meanwhile.
  ///
  /// - Returns: Whether the names of the store are durable; another process may not have got so far.
  static func make(in directory: String, _ configuration: LMDBConfiguration) throws -> Bool {
    let turn = try takeTurn(in: directory, configuration.busyTimeout)
    defer { turn.unlock() }
    guard access(directory + "/" + LMDBFiles.dataName, F_OK) != 0 else { return false }
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
      for name in [stage, lock, directory + "/" + LMDBWriterLock.name] { unlink(name) }
      throw (error as? PersistenceError)?.at(location: directory) ?? error
    }
    unlink(lock)
    guard rename(stage, directory + "/" + LMDBFiles.dataName) == 0 else {
      throw LMDBFailure(code: errno, action: "create the store").error(location: directory)
    }
    try LMDBFiles.synchronize(directory)
    return true
  }
}
