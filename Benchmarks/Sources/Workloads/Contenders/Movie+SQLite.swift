import CRawSQLite
import Foundation

extension Movie {
  /// The movie in a statement's current row.
  @inline(__always)
  init(row: OpaquePointer) throws {
    @inline(__always)
    func text(_ column: Int32) -> String {
      let bytes = UnsafeBufferPointer(
        start: sqlite3_column_text(row, column), count: Int(sqlite3_column_bytes(row, column)))
      return String(decoding: bytes, as: UTF8.self)
    }
    guard let blob = sqlite3_column_blob(row, 1), let rating = Rating(rawValue: text(6)) else {
      throw Failure("no movie")
    }
    self.init(
      id: sqlite3_column_int64(row, 0), uuid: UUID(uuid: blob.loadUnaligned(as: uuid_t.self)), title: text(2),
      genre: text(3), budget: sqlite3_column_double(row, 4),
      gross: sqlite3_column_type(row, 5) == SQLITE_NULL ? nil : sqlite3_column_double(row, 5),
      rating: rating, releasedAt: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(row, 7)),
      votes: Int(sqlite3_column_int64(row, 8)), overview: text(9))
  }

  /// Binds all fields to a statement for the duration of a closure.
  @inline(__always)
  func withBound(to statement: OpaquePointer, _ body: () -> Int32) -> Int32 {
    @inline(__always)
    func withText(_ text: String, _ column: Int32, _ body: () -> Int32) -> Int32 {
      var text = text
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { bytes in
          _ = sqlite3_bind_text(statement, column, bytes.baseAddress, Int32(bytes.count), nil)
          return body()
        }
      }
    }
    sqlite3_bind_int64(statement, 1, id)
    sqlite3_bind_double(statement, 5, budget)
    if let gross { sqlite3_bind_double(statement, 6, gross) } else { sqlite3_bind_null(statement, 6) }
    sqlite3_bind_double(statement, 8, releasedAt.timeIntervalSinceReferenceDate)
    sqlite3_bind_int64(statement, 9, Int64(votes))
    return withUnsafeBytes(of: uuid.uuid) { bytes in
      sqlite3_bind_blob(statement, 2, bytes.baseAddress, 16, nil)
      return withText(title, 3) {
        withText(genre, 4) { withText(rating.rawValue, 7) { withText(overview, 10, body) } }
      }
    }
  }
}
