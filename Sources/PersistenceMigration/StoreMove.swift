public import PersistenceDriver

/// The moving of an app's store to another engine, when the app starts: “version 1 used JSON files, version 2 uses
/// LMDB”.
///
/// It is called at every start, in the place where the store was opened before:
///
/// ```swift
/// let move = StoreMove(
///   from: {
///     guard FileManager.default.fileExists(atPath: oldPath) else { return nil }
///     return try JSONDirectoryContext(path: oldPath)
///   },
///   to: { try LMDBContext(path: newPath) },
///   retiring: { try FileManager.default.removeItem(atPath: oldPath) })
/// let repository = Repository(try move.open())
/// ```
///
/// - The first time, all records are copied from the old store, compared with it, and published in one step.
/// - Where the app was killed on the way, at whatever instant, the next start goes on from there. What was copied by
///   then is checked first; where the old store has changed since, because version 1 ran in between, the move begins
///   anew.
/// - Where the move has been made, or there is no old store, the new one is opened and nothing else is done.
///
/// The old store is never written to. It is handed to `retiring` once the new one is complete, and again at every start
/// that still finds it, so that removing it may be interrupted, too. Nothing of the new store can be seen through a
/// repository before it is complete. An app that is started twice moves its store once: the second one opens what the
/// first has moved where that is complete by then; else it throws ``PersistenceError/Code/incompleteStore`` or
/// ``PersistenceError/Code/busy``, and finds the new store when it tries again later.
public struct StoreMove: Sendable {
  private let old: @Sendable () throws -> (any StorageContext)?
  private let new: @Sendable () throws -> any StorageContext
  private let retire: (@Sendable () throws -> Void)?
  private let verification: MigrationOptions.Verification

  /// Prepares to move a store.
  ///
  /// - Parameters:
  ///   - old: Opens the old store; nil where there is none, as after a fresh installation.
  ///   - new: Opens the new store, making it where it does not exist.
  ///   - verification: How the copy is checked before the new store is used.
  ///   - retire: Called when the new store is complete and the old one, which has been closed, is no longer needed.
  public init(
    from old: @escaping @Sendable () throws -> (any StorageContext)?,
    to new: @escaping @Sendable () throws -> any StorageContext,
    verification: MigrationOptions.Verification = .digest,
    retiring retire: (@Sendable () throws -> Void)? = nil
  ) {
    self.old = old
    self.new = new
    self.verification = verification
    self.retire = retire
  }

  /// Opens the new store, after moving what the old one holds where that has not been done.
  ///
  /// - Parameter progress: Told how far the move has come; what it throws interrupts the move, which the next call goes
  ///   on with.
  /// - Returns: The new store, complete.
  /// - Throws: ``PersistenceError`` where a store cannot be opened, read or written; nothing is lost then, and the next
  ///   call goes on.
  public func open(_ progress: (MigrationProgress) throws -> Void = { _ in }) throws -> any StorageContext {
    let destination = try new()
    do {
      guard let source = try old() else {
        try destination.requireComplete()
        return destination
      }
      do {
        try move(source, destination, progress)
      } catch {
        try? source.close()
        throw error
      }
      try source.close()
      try retire?()
      return destination
    } catch {
      try? destination.close()
      throw error
    }
  }

  private func move(
    _ source: any StorageContext, _ destination: any StorageContext,
    _ progress: (MigrationProgress) throws -> Void
  ) throws {
    func run(_ start: MigrationOptions.Start) throws {
      let options = MigrationOptions(start: start, verification: verification)
      _ = try Migration(from: source, to: destination, options: options).run(progress)
    }
    do {
      guard let start = try start(in: destination) else { return }
      do {
        try run(start)
      } catch let error as PersistenceError where start == .resume && Self.isStale(error) {
        // The destination is incomplete, so there is nothing in it that is not in the source.
        try run(.restart)
      }
    } catch let error as PersistenceError where Self.isTooLate(error) {
      // Another process may have made the move since this one looked.
      guard try self.start(in: destination) == nil else { throw error }
    }
  }

  /// Where the move is to begin; nil where it has been made.
  private func start(in destination: any StorageContext) throws -> MigrationOptions.Start? {
    do {
      if try Ledger.find(in: destination) != nil { return .resume }
    } catch let error as PersistenceError where error.code == .damaged || error.code == .otherMigration {
      // A ledger that cannot be gone on with.
      return .restart
    }
    guard try !destination.catalog().isEmpty else { return .new }
    try destination.requireComplete()
    return nil
  }

  /// Whether the unfinished move is of no more use.
  private static func isStale(_ error: PersistenceError) -> Bool {
    [.sourceChanged, .destinationChanged, .otherMigration].contains(error.code)
  }

  /// Whether what was to be moved to, or gone on with, may have been finished by another process.
  private static func isTooLate(_ error: PersistenceError) -> Bool {
    [.destinationNotEmpty, .notResumable].contains(error.code)
  }
}
