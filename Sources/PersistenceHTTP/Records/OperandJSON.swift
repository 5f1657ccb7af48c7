package import PersistenceDriver
import PersistenceDriverSupport
package import PersistencePrimitives

/// The operands of conditions as JSON.
///
/// An operand may be null, and any number of its sort: a condition may compare an `int8` with 1000.
package enum OperandJSON {
  /// The value of an operand for a field.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the field cannot
  ///   hold it.
  package static func value(_ json: JSONValue, for field: FieldSchema) throws -> PersistentValue {
    do {
      return try ValueReader.strict.value(json, for: operandField(field))
    } catch {
      throw PersistenceError(error)
    }
  }

  package static func json(_ value: PersistentValue, for field: FieldSchema) throws -> JSONValue {
    try ValueWriter.json(value, operandField(field))
  }

  private static func operandField(_ field: FieldSchema) -> FieldSchema {
    var field = field
    field.isOptional = true
    if field.kind.isInteger { field.kind = .int64 }
    if field.kind == .float { field.kind = .double }
    if field.kind == .url { field.kind = .string }
    return field
  }
}

extension PersistenceError {
  /// The error for a request whose object is not a record.
  init(_ mismatch: RecordMismatch, in schema: ModelSchema? = nil) {
    switch mismatch {
    case .unknownField(let name):
      self = schema.map { .unknownField(name, in: $0) } ?? .invalidRequest("there is no field “\(name)”")
    case .mismatch(let field, let json):
      self.init(
        .invalidRequest, "“\(field.name)” is \(field.kind.rawValue) and cannot be \(json.kind) like this one",
        model: schema?.name, field: field.name)
    case .missing(let field):
      self.init(
        .invalidRequest, "“\(field.name)” is missing, which is not optional", model: schema?.name,
        field: field.name)
    }
  }
}
