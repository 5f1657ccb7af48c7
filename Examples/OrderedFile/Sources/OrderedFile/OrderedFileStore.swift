import Foundation
import PersistenceDriver
public import PersistenceKeyValue
import Synchronization

/// An ordered store in one file, for stores that fit into memory.
///
/// The file is a log of committed batches, and the content a sorted array in memory, whose copies are snapshots. Several
/// processes may open one store: a lock admits one writer, and readers apply the batches of others.
public final class OrderedFileStore: OrderedStore {
  /// The path of the file, with links resolved.
  public let location: String
  /// The longest key, beyond which the context cuts.
  public let longestKey = 1024

  let file: LogFile
  private let known = Mutex(LogState())

  /// Opens the store in a file; throws if it is missing and must not be created, damaged, no store, or inaccessible.
  public init(path: String, isReadOnly: Bool = false, creates: Bool = true) throws {
    location = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    if creates, !isReadOnly, access(location, F_OK) != 0, errno == ENOENT { try LogFile.create(at: location) }
    file = try LogFile(path: location, isReadOnly: isReadOnly)
    // An active writer has completed what the one before it left.
    let isAlone = try file.lock(until: .now)
    defer { if isAlone { file.unlock() } }
    _ = try newest(isAlone: isAlone)
  }

  /// The state after the commits of other contexts and processes.
  ///
  /// Beside no writer, the rest of the file is what a dying one left: a batch that it synchronized, or a part of one.
  private func newest(isAlone: Bool) throws -> LogState {
    try known.withLock { state in
      let (size, newest) = (try file.size(), try file.head())
      let damaged = PersistenceError.damaged("a batch is missing or damaged").at(location: location)
      while state.head.commit < newest.commit {
        guard let batch = try file.batch(after: state.head, before: newest.end) else { throw damaged }
        try state.apply(batch)
      }
      guard isAlone, size != state.head.end else { return state }
      guard size > state.head.end else { throw damaged }
      if let batch = try file.batch(after: state.head, before: size) {
        try file.synchronize()
        try state.apply(batch)
        if !file.isReadOnly { try file.name(state.head) }
      }
      if !file.isReadOnly { try file.truncate(to: state.head.end) }
      return state
    }
  }

  /// Begins to read a copy of the newest state.
  public func beginReading() throws -> any OrderedReadTransaction {
    OrderedFileTransaction(self, try newest(isAlone: false))
  }

  /// Locks the file, and begins to write to a copy of the newest state.
  public func beginWriting(until deadline: ContinuousClock.Instant) throws -> (any OrderedWriteTransaction)? {
    guard !file.isReadOnly else { throw PersistenceError.readOnly(location) }
    guard try file.lock(until: deadline) else { return nil }
    do {
      return OrderedFileTransaction(self, try newest(isAlone: true))
    } catch {
      file.unlock()
      throw error
    }
  }

  /// Commits a batch: first on the medium, then visible, then acknowledged.
  func commit(_ state: LogState, _ writes: [UInt8]) throws {
    _ = try file.size()
    var next = state
    do {
      next.head = try file.append(writes, after: state.head)
      try file.name(next.head)
    } catch var error as PersistenceError {
      // Without the batch, nothing has happened. The next writer finds a whole one.
      let isWhole = next.head.commit > state.head.commit
      guard isWhole || (try? file.truncate(to: state.head.end)) == nil else { throw error }
      error.code = .outcomeUnknown
      error.message += "; the store may or may not hold the transaction: read what it holds"
      throw error
    }
    known.withLock { $0 = next }
  }
}
