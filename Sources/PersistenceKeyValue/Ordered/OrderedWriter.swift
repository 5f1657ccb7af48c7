import PersistenceDriver

/// An engine's write transaction as the rest of this module writes to it, with nested transactions of its own.
///
/// After the engine throws, the transaction can only roll back: each further call throws the same error.
final class OrderedWriter: ByteWriter {
  let longestKey: Int
  let version: Int
  let workspace = KeyValueWorkspace()
  var copiesRows: Bool { true }
  var keepsEntries: Bool { false }
  /// Whether anything was written, so that there is something to commit.
  private(set) var isChanged = false

  private let store: any OrderedStore
  private let calls: EngineCalls
  private var transaction: (any OrderedWriteTransaction)?
  private var failure: (any Error)?
  /// The reserved entry, which the caller fills before any other call.
  private var reserved: ReservedEntry?
  /// What undoes the writes of each nested transaction, the innermost last.
  private var undo: [[Restoration]] = []

  private struct Restoration {
    let space: KeySpace
    let key: [UInt8]
    /// The earlier value; nil if the key did not exist.
    let value: [UInt8]?
  }

  /// Begins to write; returns nil if another writer did not finish until the deadline.
  init?(_ store: any OrderedStore, until deadline: ContinuousClock.Instant) throws {
    let calls = EngineCalls(location: store.location)
    guard let transaction = try calls.run({ try store.beginWriting(until: deadline) }) else { return nil }
    self.store = store
    self.calls = calls
    self.transaction = transaction
    longestKey = store.longestKey
    version = transaction.version
  }

  /// Commits and ends the transaction.
  func commit() throws {
    try run { try $0.commit() }
    transaction = nil
  }

  /// Rolls back unless the transaction has committed, and so releases the engine's lock.
  func end() {
    transaction?.rollback()
    transaction = nil
  }

  /// Calls the engine after the reserved entry is written.
  private func run<Result>(_ body: (any OrderedWriteTransaction) throws -> Result) throws -> Result {
    if let failure { throw failure }
    guard let transaction else {
      throw PersistenceError.closed("the transaction").at(location: calls.location)
    }
    do {
      if let entry = reserved {
        reserved = nil
        try calls.run { try transaction.put(entry.key, entry.value, in: entry.space) }
      }
      return try calls.run { try body(transaction) }
    } catch {
      failure = error
      throw error
    }
  }
}

extension OrderedWriter {
  func value(of key: UnsafeRawBufferPointer, in space: KeySpace) throws -> UnsafeRawBufferPointer? {
    try run { try $0.value(of: key, in: space) }
  }

  func acquireCursor(in space: KeySpace) throws -> any ByteCursor {
    AdaptedCursor(try run { try $0.cursor(in: space) }, calls)
  }

  func release(_ cursor: any ByteCursor) {}

  func reserve(_ key: UnsafeRawBufferPointer, count: Int, in space: KeySpace, isReplacing: Bool) throws
    -> UnsafeMutableRawBufferPointer?
  {
    let known = isReplacing && undo.isEmpty ? nil : try value(of: key, in: space)
    guard isReplacing || known == nil else { return nil }
    return try reserve(key, over: known, count: count, in: space)
  }

  func insert(_ key: UnsafeRawBufferPointer, count: Int, in space: KeySpace) throws -> EntryInsertion {
    if let known = try value(of: key, in: space) { return .existing(known) }
    return .reserved(try reserve(key, over: nil, count: count, in: space))
  }

  private func reserve(
    _ key: UnsafeRawBufferPointer, over known: UnsafeRawBufferPointer?, count: Int, in space: KeySpace
  ) throws -> UnsafeMutableRawBufferPointer {
    try willChange(key, known, in: space)
    let entry = ReservedEntry(key, count: count, in: space)
    try run { _ in }
    reserved = entry
    return entry.memory
  }

  func remove(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws -> Bool {
    guard let known = try value(of: key, in: space) else { return false }
    try willChange(key, known, in: space)
    try run { try $0.remove(key, in: space) }
    return true
  }

  func removeAll(beginningWith prefix: UnsafeRawBufferPointer, in space: KeySpace) throws {
    while true {
      // In batches: a write invalidates the cursor.
      var keys: [[UInt8]] = []
      let cursor = try acquireCursor(in: space)
      var next = try cursor.seek(prefix)
      while keys.count < 1024, let entry = next, ByteOrder.begins(entry.key, with: prefix) {
        keys.append([UInt8](entry.key))
        next = try cursor.next()
      }
      guard !keys.isEmpty else { return }
      for key in keys { try key.withUnsafeBytes { _ = try remove($0, in: space) } }
    }
  }

  func nested(_ body: () throws -> Void) throws {
    try run { _ in }
    undo.append([])
    do {
      try body()
      try run { _ in }
    } catch {
      rollBackNested()
      throw error
    }
    let inner = undo.removeLast()
    if !undo.isEmpty { undo[undo.count - 1] += inner }
  }

  /// Restores the entries from before the innermost transaction, and so undoes its failure.
  private func rollBackNested() {
    (reserved, failure) = (nil, nil)
    for change in undo.removeLast().reversed() {
      _ = try? change.key.withUnsafeBytes { key in
        try run { transaction in
          if let value = change.value {
            try value.withUnsafeBytes { try transaction.put(key, $0, in: change.space) }
          } else if try transaction.value(of: key, in: change.space) != nil {
            try transaction.remove(key, in: change.space)
          }
        }
      }
    }
  }

  /// Prepares a write: the first one marks an empty store as one of this package.
  private func willChange(
    _ key: UnsafeRawBufferPointer, _ known: UnsafeRawBufferPointer?, in space: KeySpace
  ) throws {
    if !undo.isEmpty {
      undo[undo.count - 1].append(
        Restoration(space: space, key: [UInt8](key), value: known.map { [UInt8]($0) }))
    }
    guard !isChanged else { return }
    isChanged = true
    try run { try Catalog.markIfNew(in: $0) }
  }
}

/// An entry under construction: a copy of its key, and the memory of its value.
private final class ReservedEntry {
  let space: KeySpace
  private let bytes: UnsafeMutableRawBufferPointer
  private let keyCount: Int

  init(_ key: UnsafeRawBufferPointer, count: Int, in space: KeySpace) {
    self.space = space
    keyCount = key.count
    bytes = .allocate(byteCount: key.count + count, alignment: 16)
    bytes.copyMemory(from: key)
  }

  deinit { bytes.deallocate() }

  var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<keyCount]) }
  var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[keyCount...]) }
  var memory: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: bytes[keyCount...]) }
}
