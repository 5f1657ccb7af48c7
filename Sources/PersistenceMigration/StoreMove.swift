public import PersistenceDriver

/// Moves an app's store to another engine at launch, for example from JSON files to LMDB.
///
/// Call ``open(_:)`` at every launch instead of opening the store directly:
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
/// - The first launch copies everything that the old store contains, removed values and waiting writes of layers
///   included, verifies it and publishes the copy in one transaction.
/// - If the app is killed during the move, the next launch resumes it and first checks the copied part. If the old
///   store has changed since, because an older app version ran in between, the move restarts.
/// - After the move, or without an old store, `open` only opens the new store.
///
/// The move never writes to the old store. It calls `retiring` when the new store is complete, and again at every launch
/// that still finds the old one, so that removal may be interrupted too. Before each of these calls it compares the old
/// store with what was moved: one that has changed since, or was never moved, may hold records that the new store lacks,
/// so `open` throws instead of retiring it. Records that an interrupted removal has left must be in the new store, with
/// equal values.
///
/// A repository refuses the new store until it is complete. If two processes of an app start at once, one moves the
/// store. The other opens the complete store, or throws ``PersistenceError/Code/incompleteStore`` or
/// ``PersistenceError/Code/busy`` and can retry later.
public struct StoreMove: Sendable {
  let old: @Sendable () throws -> (any StorageContext)?
  private let new: @Sendable () throws -> any StorageContext
  private let retire: (@Sendable () throws -> Void)?
  private let verification: MigrationOptions.Verification

  /// Creates a move.
  ///
  /// - Parameters:
  ///   - old: A closure that opens the old store, or returns nil if there is none, as after a fresh installation.
  ///   - new: A closure that opens the new store, and creates it if necessary.
  ///   - verification: How to verify the copy before the new store is used. Without digests, the old store is compared by
  ///     its numbers of records before it is retired.
  ///   - retire: A closure that is called when the new store is complete and the old one is closed. If it throws, `old` is
  ///     called again, to find out whether the old store is still whole.
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

  /// Moves the old store's records if necessary, and opens the new store.
  ///
  /// - Parameter progress: A closure that receives the progress. If it throws, the move stops; the next call resumes it.
  /// - Returns: The complete new store.
  /// - Throws: ``PersistenceError`` if a store cannot be opened, read or written. No data is lost; the next call resumes
  ///   the move. The code is ``PersistenceError/Code/sourceChanged`` if there is an old store that differs from the one that
  ///   was moved, and ``PersistenceError/Code/destinationNotEmpty`` if the new store holds records that were not moved from
  ///   the old one; both only if there is a closure that retires it.
  public func open(_ progress: (StoreProgress) throws -> Void = { _ in }) throws -> any StorageContext {
    let destination = try new()
    do {
      let receipt = try MoveReceipt.find(in: destination)
      let source: (any StorageContext)?
      do {
        source = try old()
      } catch let error as PersistenceError
        where receipt?.state == .retiring && Self.mayBeHalfRetired(error)
      {
        try retire.map { try finishRetiring(destination, $0) }
        return destination
      }
      guard let source else {
        try destination.requireCompleteNow()
        return destination
      }
      if receipt == nil {
        do {
          try move(source, destination, progress)
        } catch {
          try? source.close()
          throw error
        }
      }
      if let retire { try self.retire(source, destination, retire, progress) } else { try source.close() }
      return destination
    } catch {
      try? destination.close()
      throw error
    }
  }

  func options(_ start: MigrationOptions.Start) -> MigrationOptions {
    var options = MigrationOptions(start: start, verification: verification)
    // What waits in an outbox, and removed values, must not go with the old store.
    options.copiesEverything = true
    options.leavesReceipt = true
    return options
  }

  private func move(
    _ source: any StorageContext, _ destination: any StorageContext,
    _ progress: (StoreProgress) throws -> Void
  ) throws {
    func run(_ start: MigrationOptions.Start) throws {
      _ = try Migration(from: source, to: destination, options: options(start)).run(progress)
    }
    do {
      guard let start = try start(in: destination) else { return }
      do {
        try run(start)
      } catch let error as PersistenceError where start == .resume && Self.isStale(error) {
        // An incomplete destination holds nothing but copies.
        try run(.restart)
      }
    } catch let error as PersistenceError where Self.mayBeComplete(error) {
      // Another process may have completed the move in the meantime.
      guard try self.start(in: destination) == nil else { throw error }
    }
  }

  /// How to start the move; nil if it is complete.
  private func start(in destination: any StorageContext) throws -> MigrationOptions.Start? {
    do {
      if try Ledger.find(in: destination) != nil { return .resume }
    } catch let error as PersistenceError where error.code == .damaged || error.code == .otherMigration {
      // An unusable ledger.
      return .restart
    }
    let reader = try destination.snapshot()
    // Models without records are those of an app that has opened the new store before.
    guard
      try reader.catalog().contains(where: {
        try ReservedModel.isReserved($0.name) || reader.count(FetchRequest($0)) > 0
      })
    else { return .new }
    try destination.requireCompleteNow()
    return nil
  }

  /// Whether the unfinished move cannot be resumed.
  private static func isStale(_ error: PersistenceError) -> Bool {
    [.sourceChanged, .destinationChanged, .otherMigration].contains(error.code)
  }

  /// Whether another process may have completed the move.
  private static func mayBeComplete(_ error: PersistenceError) -> Bool {
    [.destinationNotEmpty, .notResumable].contains(error.code)
  }
}
