import PersistenceDriver
import PersistencePrimitives

/// A value in a file.
enum SourceValue: Sendable {
  case json(JSONValue)
  /// The text of a CSV field, which has no type.
  case cell(String)
}

/// A record in a file, with its position.
struct SourceRecord {
  /// The position in the file, such as `element 17` or `line 4`.
  let place: String
  /// The fields, or the reason that the record cannot be read.
  let fields: Result<[SourceField], RecordRejection>
}

struct SourceField {
  let name: String
  let value: SourceValue
}

/// The reason that a record is rejected.
struct RecordRejection: Error, Equatable {
  let reason: String
}

/// A file of records, which can be read more than once.
protocol RecordSource {
  /// Calls a closure for every record, in order.
  ///
  /// - Throws: ``ToolFailure`` if the file cannot be read, and the errors of the closure.
  func forEach(_ body: (SourceRecord) throws -> Void) throws
}
