import PersistenceDriver

/// An engine's read transaction as the rest of this module reads it.
final class OrderedReader: ByteReader {
  let longestKey: Int
  let version: Int
  let workspace = KeyValueWorkspace()
  var copiesRows: Bool { true }
  var keepsEntries: Bool { false }

  private let store: any OrderedStore
  private let transaction: any OrderedReadTransaction
  private let calls: EngineCalls

  /// Begins to read the newest committed state; keeps the store alive.
  init(_ store: any OrderedStore) throws {
    let calls = EngineCalls(location: store.location)
    self.store = store
    self.calls = calls
    transaction = try calls.run { try store.beginReading() }
    longestKey = store.longestKey
    version = transaction.version
  }

  func value(of key: UnsafeRawBufferPointer, in space: KeySpace) throws -> UnsafeRawBufferPointer? {
    try calls.run { try transaction.value(of: key, in: space) }
  }

  func acquireCursor(in space: KeySpace) throws -> any ByteCursor {
    AdaptedCursor(try calls.run { try transaction.cursor(in: space) }, calls)
  }

  func release(_ cursor: any ByteCursor) {}
}

/// An engine's cursor as the rest of this module moves it.
final class AdaptedCursor: ByteCursor {
  private let cursor: any OrderedCursor
  private let calls: EngineCalls

  init(_ cursor: any OrderedCursor, _ calls: EngineCalls) {
    self.cursor = cursor
    self.calls = calls
  }

  func seek(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry? { try calls.run { try cursor.seek(key) } }
  func last() throws -> OrderedEntry? { try calls.run { try cursor.last() } }
  func next() throws -> OrderedEntry? { try calls.run { try cursor.next() } }
  func previous() throws -> OrderedEntry? { try calls.run { try cursor.previous() } }

  func find(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry? {
    guard let entry = try seek(key), TotalOrder.compare(entry.key, key) == 0 else { return nil }
    return entry
  }
}

/// Calls of an engine, whose errors leave the module as errors of this package (contract E2).
struct EngineCalls {
  let location: String

  @inline(__always)
  func run<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw translated(error)
    }
  }

  private func translated(_ error: any Error) -> PersistenceError {
    if let error = error as? PersistenceError { return error.at(location: location) }
    return PersistenceError(
      .engineFailure, "the engine failed: \(error)", location: location,
      engineError: PersistenceError.EngineError(
        engine: "\(type(of: error))", code: 0, message: "\(error)"))
  }
}
