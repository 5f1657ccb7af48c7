import PersistenceCore
import PersistenceDriverSupport

extension [PersistentValue] {
  /// Passes the values to a closure, as a row.
  func withRow<Result>(_ body: (borrowing Row) throws -> Result) throws -> Result {
    let buffer = RowBuffer(count: count)
    buffer.set(self)
    return try buffer.withRow(body)
  }
}

extension StorageTransaction {
  /// Writes a row of values.
  func write(_ verb: WriteVerb, _ values: [PersistentValue], in schema: ModelSchema) throws {
    try values.withRow { row in
      switch verb {
      case .insert: try insert(row, in: schema)
      case .update: try update(row, in: schema)
      case .save: try save(row, in: schema)
      }
    }
  }
}

extension StorageReader {
  /// Returns the values of a record; nil if there is none.
  func values(of key: RecordKey, in schema: ModelSchema) throws -> [PersistentValue]? {
    var values: [PersistentValue]?
    _ = try find(key, in: schema) { values = try $0.values() }
    return values
  }

  /// Returns the values of all rows of a request.
  func rows(_ request: FetchRequest) throws -> [[PersistentValue]] {
    try fetch(request).rows()
  }
}

extension StorageResults {
  /// Returns the values of all rows.
  func rows() throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    _ = try read(from: 0, limit: .max) { rows.append(try $0.values()) }
    return rows
  }
}

/// Rows in memory.
final class RowList: StorageResults {
  let usesRandomAccess = false
  private let rows: [[PersistentValue]]

  init(_ rows: some Sequence<[PersistentValue]>) { self.rows = Array(rows) }

  func count() throws -> Int { rows.count }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    let page = rows.dropFirst(offset).prefix(limit)
    for row in page { try row.withRow(body) }
    return page.count
  }
}

/// Results with a replaced read and count.
final class FlawedResults: StorageResultsWrapper {
  typealias Reading =
    @Sendable (any StorageResults, Int, Int, (borrowing Row) throws -> Void) throws -> Int

  let wrapped: any StorageResults
  private let reading: Reading?
  private let counting: (@Sendable (any StorageResults) throws -> Int)?

  init(
    _ wrapped: any StorageResults, count: (@Sendable (any StorageResults) throws -> Int)? = nil,
    read: Reading? = nil
  ) {
    self.wrapped = wrapped
    reading = read
    counting = count
  }

  func count() throws -> Int { try counting?(wrapped) ?? wrapped.count() }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    guard let reading else { return try wrapped.read(from: offset, limit: limit, body) }
    return try reading(wrapped, offset, limit, body)
  }
}
