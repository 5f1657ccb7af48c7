import PersistenceDriver
import PersistencePrimitives

/// A value in a file.
enum SourceValue: Sendable {
  /// A JSON value.
  case json(JSONValue)
  /// The text of a CSV field, which has no type.
  case cell(String)

  /// Whether the value is null.
  var isNull: Bool {
    if case .json(.null) = self { true } else { false }
  }
}

/// A record in a file, with its position.
struct SourceRecord {
  /// The position in the file, such as `element 17` or `line 4`.
  let place: String
  /// The number of the record, from 1.
  let number: Int
  /// The fields, or the reason that the record cannot be read.
  let fields: Result<[SourceField], RecordRejection>
}

/// A field of a record in a file.
struct SourceField {
  /// The field's name.
  let name: String
  /// The field's value.
  let value: SourceValue
}

/// The reason that a record is rejected.
struct RecordRejection: Error, Equatable {
  /// The reason.
  let reason: String
}

/// A file of records, which can be read more than once.
protocol RecordSource {
  /// Calls a closure for every record, in order.
  ///
  /// - Throws: ``ToolFailure`` if the file cannot be read, and the errors of the closure.
  func forEach(_ body: (SourceRecord) throws -> Void) throws
}
