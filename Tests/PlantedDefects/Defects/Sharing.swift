import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// C2, W6, C3: several contexts and processes on one store.
  static let sharing: [PlantedDefect] = [
    knowingUnique("an open context does not learn the unique values of others", .c2, knowsStored: true)
      .caught(
        by:
          "unique values that another context or process committed are taken, and those that it freed are free"
      ),
    PlantedDefect(
      "an open read-only context does not learn of later commits", .c2,
      opening: { path, options, monitoring in
        let context = try sqlite(path, options, monitoring)
        guard options.isReadOnly else { return context }
        return try MirroredContext(context, before: memory(options, monitoring), isMultiProcess: true) {
          _, _, _ in
        }
      }
    ).caught(by: "an open read-only context sees each later commit of another process"),
    PlantedDefect(
      "a closure that throws keeps the lock of processes", .c2,
      opening: { path, options, monitoring in
        try lockedWrites(path, options, monitoring) { lock, hasFailed in if !hasFailed { lock.release() } }
      }
    ).caught(by: "after a closure has thrown, other processes can write"),
    PlantedDefect(
      "an opening that finds no store replaces the one that another creates meanwhile", .c2,
      opening: { path, options, monitoring in
        if !FileManager.default.fileExists(atPath: path) {
          usleep(20_000)
          try? FileManager.default.removeItem(atPath: path)
        }
        return try sqlite(path, options, monitoring)
      }
    ).caught(by: "contexts that open a new store at the same moment share it"),
    PlantedDefect(
      "a store that is opened through a link is another store", .c2,
      opening: { path, options, monitoring in
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let isLink = (try? FileManager.default.destinationOfSymbolicLink(atPath: folder)) != nil
        return try sqlite(isLink ? path + " by its link" : path, options, monitoring)
      }
    ).caught(by: "contexts that open one store by different paths share it"),
    PlantedDefect(
      "each context of a store has a location of its own", .e4,
      opening: { path, options, monitoring in
        OwnMonitorContext(try sqlite(path, options, monitoring), monitoring, location: UUID().uuidString)
      }
    ).caught(by: "a copy through one context ends what another context of the process knew of the store"),
    PlantedDefect(
      "a writer waits for its process, and then as long for the others", .w6,
      opening: { path, options, monitoring in
        let gate = WriterGate()
        var flaw = Flaw()
        flaw.transaction = { context, body in
          let timeout = Duration.milliseconds(options.busyMilliseconds ?? 5000)
          try gate.withEntry(timeout: timeout, location: path) { try context.transaction(body) }
        }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }
    ).caught(by: "a writer behind a waiting writer of its process waits no longer than the configured time"),
    PlantedDefect(
      "an opening that throws keeps a lock", .c3,
      opening: { path, options, monitoring in
        try lockedOpening(path, options, monitoring) { lock, hasFailed in if !hasFailed { lock.release() } }
      }
    ).caught(by: "an opening that throws leaves no lock and no open file"),
    PlantedDefect(
      "an opening that throws keeps the file open", .c3,
      opening: { path, options, monitoring in
        do {
          return try sqlite(path, options, monitoring)
        } catch {
          _ = open(path, O_RDONLY | O_CLOEXEC)
          throw error
        }
      }
    ).caught(by: "an opening that throws leaves no lock and no open file"),
  ]

  /// Opens a context whose transactions hold a lock beside the store.
  static func lockedWrites(
    _ path: String, _ options: OpeningOptions, _ monitoring: Monitoring,
    end: @escaping @Sendable (FolderLock, _ hasFailed: Bool) -> Void
  ) throws -> any StorageContext {
    var flaw = Flaw()
    flaw.transaction = { context, body in
      let lock = try FolderLock(path, options)
      let result = Result { try context.transaction(body) }
      end(lock, (try? result.get()) == nil)
      try result.get()
    }
    return FlawedContext(try sqlite(path, options, monitoring), flaw)
  }

  /// Opens a context under a lock beside the store.
  static func lockedOpening(
    _ path: String, _ options: OpeningOptions, _ monitoring: Monitoring,
    end: (FolderLock, _ hasFailed: Bool) -> Void
  ) throws -> any StorageContext {
    let lock = try FolderLock(path, options)
    let result = Result { try sqlite(path, options, monitoring) }
    end(lock, (try? result.get()) == nil)
    return try result.get()
  }
}

/// A lock beside a store, which stays until it is released.
struct FolderLock {
  private let descriptor: Int32

  init(_ path: String, _ options: OpeningOptions) throws {
    descriptor = open(path + ".writers", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    let timeout = Duration.milliseconds(options.busyMilliseconds ?? 5000)
    let deadline = ContinuousClock.now + timeout
    while descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard ContinuousClock.now < deadline else {
        close(descriptor)
        throw PersistenceError.busy(path, waited: timeout)
      }
      usleep(1000)
    }
  }

  func release() { if descriptor >= 0 { close(descriptor) } }
}
