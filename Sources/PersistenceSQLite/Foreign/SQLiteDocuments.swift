import CSQLite
import Foundation
import PersistenceDriver
import PersistenceSQL
import PersistencePrimitives

/// Converts values of any kind to documents, so that different values stay different.
///
/// A number becomes a JSON number (a real number always with a point or an exponent), text a JSON string, a blob
/// `{"$bytes":"…"}` in Base64, an infinity `{"$real":"Infinity"}`.
enum SQLiteDocuments {
  /// The document of a value; nil for text that is not valid UTF-8.
  static func text(of source: SQLiteValue) -> String? {
    switch source.type {
    case SQLITE_INTEGER: return "\(source.integer)"
    case SQLITE_FLOAT:
      let number = TotalOrder.normalized(source.double)
      if number.isFinite { return "\(number)" }
      return wrapped("$real", number < 0 ? "-Infinity" : "Infinity")
    case SQLITE_TEXT:
      let bytes = source.text.assumingMemoryBound(to: UInt8.self)
      return String(validating: bytes, as: UTF8.self).map { JSONText.canonical(.string($0)) }
    case SQLITE_BLOB: return wrapped("$bytes", Data(source.blob).base64EncodedString())
    default: return nil
    }
  }

  private static func wrapped(_ name: String, _ text: String) -> String {
    JSONText.canonical(.object([JSONMember(name, .string(text))]))
  }
}

extension SQLiteConnection {
  /// Registers the function that converts columns of foreign tables to documents.
  func registerDocumentFunction() throws {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    let code = sqlite3_create_function_v2(
      handle, SQLiteDialect.documentFunction, 1, flags, nil, { makeDocument($0, $2) }, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code, "register a function") }
  }
}

private func makeDocument(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
  guard let arguments, sqlite3_value_type(arguments[0]) != SQLITE_NULL else {
    return sqlite3_result_null(context)
  }
  guard var text = SQLiteDocuments.text(of: SQLiteValue(arguments[0])) else {
    // Bytes are not a document: reading this record reports damage, and other records stay readable.
    return bytes(of: SQLiteValue(arguments[0]), context)
  }
  text.withUTF8 {
    $0.withMemoryRebound(to: CChar.self) {
      sqlite3_result_text64(
        context, $0.baseAddress, UInt64($0.count), persistence_sqlite3_transient(), UInt8(SQLITE_UTF8))
    }
  }
}

private func bytes(of value: SQLiteValue, _ context: OpaquePointer?) {
  let bytes = value.blob
  sqlite3_result_blob64(context, bytes.baseAddress, UInt64(bytes.count), persistence_sqlite3_transient())
}
