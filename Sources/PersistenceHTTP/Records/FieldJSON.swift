import Foundation
package import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Values as they stand in requests and answers: what ``FieldText`` writes, read strictly.
package enum FieldJSON {
  /// The value that JSON stands for in a field.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` where the field cannot hold it.
  package static func value(_ json: JSONValue, for field: FieldSchema) throws -> PersistentValue {
    if case .null = json {
      guard field.isOptional else { throw misfit(json, field) }
      return .null
    }
    guard let value = try read(json, field) else { throw misfit(json, field) }
    return value
  }

  /// The value that JSON stands for in a condition on a field, which may be compared with nil and with any number of
  /// its sort.
  package static func operand(_ json: JSONValue, for field: FieldSchema) throws -> PersistentValue {
    try value(json, for: operandField(field))
  }

  /// A value in a condition on a field, as JSON.
  package static func json(operand value: PersistentValue, for field: FieldSchema) throws -> JSONValue {
    try FieldText.json(value, operandField(field))
  }

  private static func operandField(_ field: FieldSchema) -> FieldSchema {
    var field = field
    field.isOptional = true
    if field.kind.isInteger { field.kind = .int64 }
    if field.kind == .float { field.kind = .double }
    if field.kind == .url { field.kind = .string }
    return field
  }

  private static func read(_ json: JSONValue, _ field: FieldSchema) throws -> PersistentValue? {
    switch (field.kind, json) {
    case (.document, _): return .document(JSONText.canonical(JSONDocument.unwrapped(json)))
    case (.bool, .bool(let truth)): return .bool(truth)
    case (.string, .string(let text)): return .text(text)
    case (.url, .string(let text)): return URL(string: text) == nil ? nil : .text(text)
    case (.data, .string(let text)): return Data(base64Encoded: text).map { .bytes([UInt8]($0)) }
    case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) }
    case (.date, .string(let text)):
      return ISO8601Reader.seconds(text).map { PersistentValue.date($0).normalized }
    case (.double, .string(let text)), (.float, .string(let text)):
      return SpecialNumber.value(text).map { .double($0) }
    case (.double, .number(let text)):
      return Double(text).flatMap { $0.isFinite ? PersistentValue.double($0).normalized : nil }
    case (.float, .number(let text)):
      return Float(text).flatMap { $0.isFinite ? PersistentValue.double(Double($0)).normalized : nil }
    case (.decimal, .string(let text)): return text == SpecialNumber.nan ? .decimal(.nan) : nil
    case (.decimal, .number(let text)): return ExactNumber(text)?.decimal.map { .decimal($0) }
    case (let kind, .number(let text)):
      guard let range = kind.integerRange, let number = ExactNumber(text)?.int64, range.contains(number)
      else {
        return nil
      }
      return .integer(number)
    default: return nil
    }
  }

  private static func misfit(_ json: JSONValue, _ field: FieldSchema) -> PersistenceError {
    PersistenceError(
      .invalidRequest, "“\(field.name)” is \(field.kind.rawValue) and cannot be \(json.kind) like this one",
      field: field.name)
  }
}
