import PersistenceDriver
import PersistencePrimitives

/// A value as a file holds it.
enum SourceValue: Sendable {
  /// A JSON value.
  case json(JSONValue)
  /// The text of a CSV field, which has no kind of its own.
  case cell(String)

  /// Whether it is no value.
  var isNull: Bool {
    if case .json(.null) = self { true } else { false }
  }
}

/// A record as a file holds it, with its place.
struct SourceRecord {
  /// Where in the file it stands, such as `element 17` or `line 4`.
  let place: String
  /// Its number among all records of the file, from 1.
  let number: Int
  /// Its fields; or why it cannot be read.
  let fields: Result<[SourceField], RecordRejection>
}

/// A field of a record as a file holds it.
struct SourceField {
  /// The field's name.
  let name: String
  /// Its value.
  let value: SourceValue
}

/// Why a record is left out.
struct RecordRejection: Error, Equatable {
  /// The reason.
  let reason: String
}

/// A file of records that can be walked more than once.
protocol RecordSource {
  /// Calls a closure for every record, in order.
  ///
  /// - Throws: ``ToolFailure`` where the file cannot be read on, and what the closure throws.
  func forEach(_ body: (SourceRecord) throws -> Void) throws
}
