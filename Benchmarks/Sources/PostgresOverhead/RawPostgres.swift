import CRawPostgres
import Foundation
import Movies

/// An error of libpq, or a wrong result.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A connection of libpq, used by one thread at a time: prepared statements, and values in the binary format.
final class RawPostgres: @unchecked Sendable {  // one thread at a time
  let handle: OpaquePointer

  init(_ url: String) throws {
    guard let made = PQconnectdb(url) else { throw Failure("libpq is out of memory") }
    handle = made
    guard PQstatus(made) == CONNECTION_OK else { throw failure("connect") }
  }

  deinit { PQfinish(handle) }

  func failure(_ action: String) -> Failure {
    Failure("libpq could not \(action): \(String(cString: PQerrorMessage(handle)))")
  }

  /// The result of a call, which the caller clears, if it has the wanted status.
  func checked(_ result: OpaquePointer?, _ wanted: ExecStatusType, _ action: String) throws -> OpaquePointer {
    guard let result else { throw failure(action) }
    guard PQresultStatus(result) == wanted else {
      PQclear(result)
      throw failure(action)
    }
    return result
  }

  /// Runs statements that return nothing, in one round trip.
  func run(_ text: String) throws { PQclear(try checked(PQexec(handle, text), PGRES_COMMAND_OK, text)) }

  func prepare(_ name: String, _ text: String) throws {
    PQclear(try checked(PQprepare(handle, name, text, 0, nil), PGRES_COMMAND_OK, text))
  }

  /// Runs a prepared statement, and passes its rows to a closure.
  func rows<Result>(
    of name: String, _ parameters: RawParameters, _ body: (OpaquePointer) throws -> Result
  ) throws -> Result {
    let result = try checked(
      parameters.withPointers { count, values, lengths, formats in
        PQexecPrepared(handle, name, count, values, lengths, formats, 1)
      }, PGRES_TUPLES_OK, name)
    defer { PQclear(result) }
    return try body(result)
  }
}

/// The parameters of a statement in the binary format.
struct RawParameters {
  private var bytes: [UInt8] = []
  /// The place of each value; nil for NULL.
  private var starts: [Int?] = []
  private var lengths: [Int32] = []

  init() {}

  init(_ id: Int64) {
    withUnsafeBytes(of: id.bigEndian) { bytes.append(contentsOf: $0) }
    (starts, lengths) = ([0], [8])
  }

  init(_ texts: String...) {
    for text in texts {
      starts.append(bytes.count)
      bytes.append(contentsOf: text.utf8)
      lengths.append(Int32(text.utf8.count))
    }
  }

  init(_ movie: Movie) {
    BinaryMovie.append(movie, to: &bytes)
    var place = 2
    while place < bytes.count {
      let length = bytes.withUnsafeBytes {
        Int32(bigEndian: $0.loadUnaligned(fromByteOffset: place, as: Int32.self))
      }
      starts.append(length < 0 ? nil : place + 4)
      lengths.append(max(0, length))
      place += 4 + Int(max(0, length))
    }
  }

  func withPointers<Result>(
    _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?)
      -> Result
  ) -> Result {
    bytes.withUnsafeBytes { bytes in
      let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let values: [UnsafePointer<CChar>?] = starts.map { start in
        start.flatMap { start in base.map { $0 + start } }
      }
      let formats = [Int32](repeating: 1, count: starts.count)
      return values.withUnsafeBufferPointer { values in
        lengths.withUnsafeBufferPointer { lengths in
          formats.withUnsafeBufferPointer { formats in
            body(Int32(values.count), values.baseAddress, lengths.baseAddress, formats.baseAddress)
          }
        }
      }
    }
  }
}

/// The server's binary format of a movie.
enum BinaryMovie {
  /// The columns in the order of the format.
  static let columns = [
    "id", "uuid", "title", "genre", "budget", "gross", "rating", "releasedAt", "votes", "overview",
  ].map { "\"\($0)\"" }

  /// Appends a row of COPY: the number of fields, and each field after its length.
  static func append(_ movie: Movie, to bytes: inout [UInt8]) {
    append(Int16(10), to: &bytes)
    append(field: movie.id, to: &bytes)
    append(Int32(16), to: &bytes)
    withUnsafeBytes(of: movie.uuid.uuid) { bytes.append(contentsOf: $0) }
    append(text: movie.title, to: &bytes)
    append(text: movie.genre, to: &bytes)
    append(field: movie.budget.bitPattern, to: &bytes)
    if let gross = movie.gross {
      append(field: gross.bitPattern, to: &bytes)
    } else {
      append(Int32(-1), to: &bytes)
    }
    append(text: movie.rating, to: &bytes)
    append(field: movie.releasedAt.timeIntervalSinceReferenceDate.bitPattern, to: &bytes)
    append(field: Int64(movie.votes), to: &bytes)
    append(text: movie.overview, to: &bytes)
  }

  static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private static func append(field number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    append(Int32(8), to: &bytes)
    append(number, to: &bytes)
  }

  private static func append(text: String, to bytes: inout [UInt8]) {
    append(Int32(text.utf8.count), to: &bytes)
    bytes.append(contentsOf: text.utf8)
  }

  /// The movie in a row of a result.
  static func movie(_ result: OpaquePointer, _ row: Int32) -> Movie {
    Movie(
      id: integer(result, row, 0), uuid: uuid(result, row, 1), title: text(result, row, 2),
      genre: text(result, row, 3), budget: double(result, row, 4),
      gross: PQgetisnull(result, row, 5) == 0 ? double(result, row, 5) : nil, rating: text(result, row, 6),
      releasedAt: Date(timeIntervalSinceReferenceDate: double(result, row, 7)),
      votes: Int(integer(result, row, 8)), overview: text(result, row, 9))
  }

  static func integer(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> Int64 {
    guard let bytes = PQgetvalue(result, row, column) else { return 0 }
    return Int64(bigEndian: UnsafeRawPointer(bytes).loadUnaligned(as: Int64.self))
  }

  private static func double(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> Double {
    Double(bitPattern: UInt64(bitPattern: integer(result, row, column)))
  }

  private static func uuid(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> UUID {
    guard let bytes = PQgetvalue(result, row, column) else { return UUID() }
    return UUID(uuid: UnsafeRawPointer(bytes).loadUnaligned(as: uuid_t.self))
  }

  private static func text(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> String {
    guard let bytes = PQgetvalue(result, row, column) else { return "" }
    let count = Int(PQgetlength(result, row, column))
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}

extension RawPostgres {
  /// The movies of a statement without parameters.
  func movies(_ statement: String) throws -> [Movie] {
    let result = try checked(
      PQexecParams(handle, statement, 0, nil, nil, nil, nil, 1), PGRES_TUPLES_OK, statement)
    defer { PQclear(result) }
    return (0..<PQntuples(result)).map { BinaryMovie.movie(result, $0) }
  }
}
