/// An engine that stores bytes by key, in the order of the keys.
///
/// An ``OrderedStoreContext`` keeps records, indexes and schemas in it. Keys are compared as unsigned bytes, and a key
/// follows its own prefixes. A value may be empty; a key is not.
///
/// **Threads.** Any thread calls the store, several at the same time. One thread at a time uses a transaction with its
/// cursors; a read transaction may move between threads.
///
/// **Isolation.** A read transaction shows one committed state for as long as it lives, whatever is committed meanwhile
/// (contract R2). Readers and writers do not wait for each other (W6).
///
/// **Errors.** A store throws ``PersistenceDriver/PersistenceError``; `PersistenceError.system(_:while:at:)` makes one
/// of an `errno`. The context wraps any other error as `engineFailure`.
///
/// **Lifetime.** The context releases the store when it is closed and no result lives any more. A store releases its
/// files in `deinit`. Transactions keep their store alive.
public protocol OrderedStore: AnyObject, Sendable {
  /// Where the store is, without secrets: the path with links resolved, if it has files.
  ///
  /// Messages show it, and page tokens tell stores apart by it, so no two stores have the same.
  var location: String { get }

  /// The longest key that the store accepts, in bytes, from 128 to 65,535.
  ///
  /// Longer keys are cut and end with a digest; a scan sorts the records whose keys are cut at the same bytes. It must
  /// never change for existing data. A store without a limit chooses one, such as 1,024.
  var longestKey: Int { get }

  /// Begins to read the newest committed state, also of commits by other processes.
  ///
  /// - Throws: An error if the store cannot be read, or if its files are gone.
  func beginReading() throws -> any OrderedReadTransaction

  /// Begins to write, from the newest committed state, as the only writer of all processes.
  ///
  /// The context admits one writer at a time of its own. The store excludes other contexts and other processes, and
  /// completes or removes the traces of a writer that died.
  ///
  /// - Parameter deadline: The time at which the store stops to wait for another writer.
  /// - Returns: The transaction; nil if another writer did not finish until the deadline.
  /// - Throws: An error if the store cannot be written, or if its files are gone.
  func beginWriting(until deadline: ContinuousClock.Instant) throws -> (any OrderedWriteTransaction)?
}

/// One committed state of an ordered store, or the state that a transaction has written.
public protocol OrderedReadTransaction: AnyObject {
  /// The number of the newest commit that the transaction sees.
  ///
  /// It grows with each commit of any process that changes something, at least as long as the store is open. A write
  /// transaction has the number of the state that it began from.
  var version: Int { get }

  /// The value of a key; nil if the store does not contain the key.
  ///
  /// The bytes are valid until the next call of the transaction or of one of its cursors.
  func value(of key: UnsafeRawBufferPointer, in space: KeySpace) throws -> UnsafeRawBufferPointer?

  /// A new cursor, without a position.
  ///
  /// It is not used after the transaction has ended. A cursor of a write transaction is not used after the next write.
  func cursor(in space: KeySpace) throws -> any OrderedCursor
}

/// A position in one space of a transaction.
///
/// Each call returns the entry at the new position, or nil if there is none. The bytes are valid until this cursor
/// moves, its transaction writes, or its transaction ends. Other cursors do not affect them.
///
/// After nil, the context calls ``seek(_:)`` or ``last()`` first. All calls take O(log *n*) time or less.
public protocol OrderedCursor: AnyObject {
  /// Moves to the first entry whose key is not less than the given one, which need not exist.
  func seek(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry?

  /// Moves to the last entry of the space.
  func last() throws -> OrderedEntry?

  /// Moves to the next entry.
  func next() throws -> OrderedEntry?

  /// Moves to the previous entry.
  func previous() throws -> OrderedEntry?
}

/// The writes of one transaction, which ends with ``commit()`` or ``rollback()``.
///
/// Its reads see its writes. Nothing else sees them before the commit. A call that throws has changed nothing.
public protocol OrderedWriteTransaction: OrderedReadTransaction {
  /// Adds an entry, or replaces the value of its key.
  ///
  /// The bytes are valid during the call only.
  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws

  /// Removes an entry, which exists.
  func remove(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws

  /// Commits all writes as one, and ends the transaction.
  ///
  /// When the call returns, the writes survive the end of the process and, in a durable store, the loss of power
  /// (contract W5). They are on the medium before another transaction sees them.
  ///
  /// - Throws: An error after which the store holds none of the writes; one with the code `outcomeUnknown` if it may
  ///   hold all of them. The context calls ``rollback()`` next.
  func commit() throws

  /// Discards the writes and ends the transaction, so that the next writer may begin.
  ///
  /// Called once for each transaction that has not committed, also after ``commit()`` threw.
  func rollback()
}
