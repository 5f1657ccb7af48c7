import PersistenceDriver

/// Lends the writer of a transaction to results, as long as nothing is written.
///
/// A result of a transaction shows uncommitted state, of which there is no snapshot: it is valid until the next
/// write, and says so rather than show something else.
final class TransactionSource: @unchecked Sendable {  // used by the transaction's thread only
  private let writer: any ByteWriter
  @exclusivity(unchecked) private var isOpen = true
  @exclusivity(unchecked) private var generation: UInt64 = 0

  init(_ writer: any ByteWriter) { self.writer = writer }

  func changed() { generation &+= 1 }

  func end() { isOpen = false }

  /// The state between two writes.
  final class View: ByteSource, @unchecked Sendable {  // used by the transaction's thread only
    private let source: TransactionSource
    private let generation: UInt64

    init(_ source: TransactionSource) {
      self.source = source
      generation = source.generation
    }

    func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result {
      try requireValid()
      let result = try body(GuardedReader(self, source.writer))
      return result
    }

    func requireValid() throws {
      guard source.isOpen else { throw PersistenceError.closed("the transaction that a result belongs to") }
      guard source.generation == generation else {
        throw PersistenceError.closed("a result of a transaction, after a write of the same transaction,")
      }
    }
  }
}

/// A transaction's reader for one result: it refuses to go on where the closure that rows are lent to has
/// written.
private final class GuardedReader: ByteReader {
  private let view: TransactionSource.View
  private let writer: any ByteWriter

  init(_ view: TransactionSource.View, _ writer: any ByteWriter) {
    self.view = view
    self.writer = writer
  }

  var longestKey: Int { writer.longestKey }
  var version: Int { writer.version }
  var workspace: KeyValueWorkspace { writer.workspace }
  var lendsCopies: Bool { true }

  func value(of key: UnsafeRawBufferPointer, in space: ByteSpace) throws -> UnsafeRawBufferPointer? {
    try view.requireValid()
    return try writer.value(of: key, in: space)
  }

  func takeCursor(in space: ByteSpace) throws -> any ByteCursor {
    GuardedCursor(view, try writer.takeCursor(in: space))
  }

  func giveBack(_ cursor: any ByteCursor) {
    if let guarded = cursor as? GuardedCursor { writer.giveBack(guarded.cursor) }
  }
}

private final class GuardedCursor: ByteCursor {
  private let view: TransactionSource.View
  let cursor: any ByteCursor

  init(_ view: TransactionSource.View, _ cursor: any ByteCursor) {
    self.view = view
    self.cursor = cursor
  }

  func seek(_ key: UnsafeRawBufferPointer) throws -> ByteEntry? {
    try view.requireValid()
    return try cursor.seek(key)
  }

  func find(_ key: UnsafeRawBufferPointer) throws -> ByteEntry? {
    try view.requireValid()
    return try cursor.find(key)
  }

  func last() throws -> ByteEntry? {
    try view.requireValid()
    return try cursor.last()
  }

  func next() throws -> ByteEntry? {
    try view.requireValid()
    return try cursor.next()
  }

  func previous() throws -> ByteEntry? {
    try view.requireValid()
    return try cursor.previous()
  }
}
