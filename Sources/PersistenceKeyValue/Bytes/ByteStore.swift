/// A part of a byte store that is ordered by itself.
package enum ByteSpace: Int, CaseIterable, Sendable {
  /// Which models there are, and how many records each has.
  case catalog
  /// The records, by model and primary key.
  case records
  /// The entries of secondary indexes, by model, index, values and primary key.
  case indexes

  /// The name that a store may give the part.
  package var name: String {
    switch self {
    case .catalog: "catalog"
    case .records: "records"
    case .indexes: "indexes"
    }
  }
}

/// A key and its value, borrowed from the store.
///
/// In a snapshot the bytes stay where they are as long as the snapshot lives; in a transaction until its next
/// write.
package struct ByteEntry {
  package let key: UnsafeRawBufferPointer
  package let value: UnsafeRawBufferPointer

  package init(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    self.key = key
    self.value = value
  }
}

/// One moment's view of an ordered byte store: what an engine implements so that records can be kept in it.
///
/// Keys are ordered as unsigned bytes, a shorter one before a longer one that begins with it. A reader is used
/// by one thread at a time.
package protocol ByteReader: AnyObject {
  /// The longest key, in bytes, that the store takes; at least 128.
  var longestKey: Int { get }

  /// The number of the committed state that is seen, which grows from commit to commit; of a writer, that of the state
  /// that it began from.
  var version: Int { get }

  /// Scratch memory for whoever uses the reader.
  var workspace: KeyValueWorkspace { get }

  /// Whether the bytes that are handed out may move while they are lent, so that rows are copied first.
  var lendsCopies: Bool { get }

  /// The value of a key.
  func value(of key: UnsafeRawBufferPointer, in space: ByteSpace) throws -> UnsafeRawBufferPointer?

  /// A cursor, which is given back by ``giveBack(_:)`` when it is no longer needed.
  func takeCursor(in space: ByteSpace) throws -> any ByteCursor

  /// Takes a cursor back, to be used again.
  func giveBack(_ cursor: any ByteCursor)
}

/// A place in one space of a byte store.
package protocol ByteCursor: AnyObject {
  /// Goes to the first entry whose key is not less, and reads it.
  func seek(_ key: UnsafeRawBufferPointer) throws -> ByteEntry?

  /// Goes to the entry of exactly this key, and reads it; quick where it is near the place of the last one.
  func find(_ key: UnsafeRawBufferPointer) throws -> ByteEntry?

  /// Goes to the last entry of all, and reads it.
  func last() throws -> ByteEntry?

  /// Goes to the next entry, and reads it.
  func next() throws -> ByteEntry?

  /// Goes to the entry before, and reads it.
  func previous() throws -> ByteEntry?

  /// Goes on from the last entry, and reads entries as far as there is room for them, or fewer.
  ///
  /// - Parameters:
  ///   - entries: Where they are put, one after the other.
  ///   - isReversed: Whether the cursor goes backwards.
  /// - Returns: How many were read; none at the end.
  /// - Throws: ``PersistenceError`` where the store fails.
  func read(_ entries: UnsafeMutableBufferPointer<ByteEntry>, isReversed: Bool) throws -> Int
}

extension ByteCursor {
  package func read(_ entries: UnsafeMutableBufferPointer<ByteEntry>, isReversed: Bool) throws -> Int {
    guard let entry = isReversed ? try previous() : try next(), !entries.isEmpty else { return 0 }
    entries[0] = entry
    return 1
  }
}

/// What a transaction may do to a byte store.
package protocol ByteWriter: ByteReader {
  /// Makes an entry and gives the memory that its value is then written into, before anything else is done.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - count: How long the value is.
  ///   - space: The space.
  ///   - isReplacing: Whether an entry of that key is replaced; otherwise it is left as it is.
  /// - Returns: The memory; nil where there is an entry of that key that is not to be replaced.
  /// - Throws: ``PersistenceError`` where the store is full or fails.
  func reserve(_ key: UnsafeRawBufferPointer, count: Int, in space: ByteSpace, isReplacing: Bool) throws
    -> UnsafeMutableRawBufferPointer?

  /// Makes an entry, or replaces it: at the latest when its space is looked at, or at the end.
  ///
  /// A failure may therefore only show then; it ends the transaction.
  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: ByteSpace) throws

  /// Removes an entry; says whether there was one.
  func remove(_ key: UnsafeRawBufferPointer, in space: ByteSpace) throws -> Bool

  /// Removes every entry whose key begins with the prefix, which is not empty.
  func removeAll(beginningWith prefix: UnsafeRawBufferPointer, in space: ByteSpace) throws

  /// Runs a closure whose writes are undone where it throws.
  func nested(_ body: () throws -> Void) throws
}

extension ByteWriter {
  package func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: ByteSpace) throws
  {
    try reserve(key, count: value.count, in: space, isReplacing: true)?.copyMemory(from: value)
  }
}

/// Something that lends a reader: a snapshot, which lets one thread in at a time, or a transaction.
package protocol ByteSource: AnyObject, Sendable {
  /// Runs a closure with the reader.
  func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result
}
