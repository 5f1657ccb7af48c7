import PersistenceDriver

/// Gives results access to a transaction's writer until the next write.
///
/// A result of a transaction shows uncommitted state, of which there is no snapshot. It is valid until the
/// next write, and throws after it.
final class TransactionSource: @unchecked Sendable {  // used by the transaction's thread only
  private let writer: any ByteWriter
  @exclusivity(unchecked) private var isOpen = true
  /// The number of writes so far.
  @exclusivity(unchecked) private(set) var generation: UInt64 = 0

  init(_ writer: any ByteWriter) { self.writer = writer }

  func invalidateResults() { generation &+= 1 }

  func end() { isOpen = false }

  /// The transaction's state between two writes.
  final class View: ByteSource, @unchecked Sendable {  // used by the transaction's thread only
    private let source: TransactionSource
    private let generation: UInt64

    init(_ source: TransactionSource) {
      self.source = source
      generation = source.generation
    }

    func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result {
      try requireValid()
      return try body(GuardedReader(self, source.writer))
    }

    func requireValid() throws {
      guard source.isOpen else { throw PersistenceError.closed("the transaction of a result") }
      guard source.generation == generation else {
        throw PersistenceError.closed("a result of a transaction, after a write of the same transaction,")
      }
    }
  }
}

/// A transaction's reader for one result; throws if the caller's closure has written to the transaction.
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
  var copiesRows: Bool { true }
  var keepsEntries: Bool { writer.keepsEntries }

  func value(of key: UnsafeRawBufferPointer, in space: KeySpace) throws -> UnsafeRawBufferPointer? {
    try view.requireValid()
    return try writer.value(of: key, in: space)
  }

  func acquireCursor(in space: KeySpace) throws -> any ByteCursor {
    GuardedCursor(view, try writer.acquireCursor(in: space))
  }

  func release(_ cursor: any ByteCursor) {
    if let guarded = cursor as? GuardedCursor { writer.release(guarded.cursor) }
  }
}

private final class GuardedCursor: ByteCursor {
  private let view: TransactionSource.View
  let cursor: any ByteCursor

  init(_ view: TransactionSource.View, _ cursor: any ByteCursor) {
    self.view = view
    self.cursor = cursor
  }

  private var valid: any ByteCursor {
    get throws {
      try view.requireValid()
      return cursor
    }
  }

  func seek(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry? { try valid.seek(key) }
  func find(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry? { try valid.find(key) }
  func last() throws -> OrderedEntry? { try valid.last() }
  func next() throws -> OrderedEntry? { try valid.next() }
  func previous() throws -> OrderedEntry? { try valid.previous() }
}
