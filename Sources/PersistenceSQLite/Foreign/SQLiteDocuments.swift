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

  /// The function that converts a column of a foreign table.
  static func convert(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let arguments, sqlite3_value_type(arguments[0]) != SQLITE_NULL else {
      return sqlite3_result_null(context)
    }
    let value = SQLiteValue(arguments[0])
    if let text = text(of: value) { return SQLiteArrayModule.result(text, context) }
    // Bytes are not a document: reading this record reports damage, and other records stay readable.
    SQLiteArrayModule.result(value.blob, context)
  }

  private static func wrapped(_ name: String, _ text: String) -> String {
    JSONText.canonical(.object([JSONMember(name, .string(text))]))
  }
}
