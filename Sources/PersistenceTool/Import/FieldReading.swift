import Foundation
import PersistenceDriver
import PersistencePrimitives

/// Makes stored values of what files hold: the other half of ``FieldText``.
struct FieldReading {
  /// A value, and what had to be done to it where that was more than reading.
  struct Outcome {
    /// The value.
    let value: PersistentValue
    /// Such as `number to text`; nil where nothing was converted.
    var conversion: String?
  }

  /// The field that the value is for.
  let field: FieldSchema

  /// Reads a value.
  ///
  /// - Throws: ``RecordRejection`` where the field cannot hold it.
  func read(_ source: SourceValue) throws -> Outcome {
    switch source {
    case .json(.null):
      guard field.isOptional else { throw rejection("is null") }
      return Outcome(value: .null)
    case .json(let value): return try read(value)
    case .cell(let text): return Outcome(value: try cell(text))
    }
  }

  private func rejection(_ problem: String) -> RecordRejection {
    RecordRejection(reason: "“\(field.name)” \(problem)")
  }

  private func misfit(_ value: JSONValue) -> RecordRejection {
    let shown = TerminalText.cut(TerminalText.safe(JSONText.canonical(value)), to: 40)
    return rejection("is \(shown), which is no \(field.kind.rawValue)")
  }

  private func read(_ value: JSONValue) throws -> Outcome {
    if field.kind == .document {
      return Outcome(value: .document(JSONText.canonical(JSONDocument.unwrapped(value))))
    }
    switch value {
    case .string(let text):
      guard let read = try stored(text) else { throw misfit(value) }
      let isNumber = field.kind.isInteger || [.double, .float, .decimal, .bool].contains(field.kind)
      let isSpecial = SpecialNumber.value(text) != nil
      return Outcome(value: read, conversion: isNumber && !isSpecial ? "text to \(field.kind.rawValue)" : nil)
    case .number(let text):
      if field.kind == .string || field.kind == .url {
        return Outcome(value: .text(text), conversion: "number to text")
      }
      guard let read = number(text) else { throw misfit(value) }
      let isInteger = !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
      let isFloating = field.kind == .double || field.kind == .float
      return Outcome(
        value: read, conversion: isFloating && isInteger ? "integer to \(field.kind.rawValue)" : nil)
    case .bool(let truth):
      if field.kind == .bool { return Outcome(value: .bool(truth)) }
      guard field.kind == .string else { throw misfit(value) }
      return Outcome(value: .text("\(truth)"), conversion: "truth value to text")
    case .array, .object:
      guard field.kind == .string else { throw misfit(value) }
      return Outcome(value: .text(JSONText.canonical(value)), conversion: "document to text")
    case .null: return Outcome(value: .null)
    }
  }

  private func cell(_ text: String) throws -> PersistentValue {
    if let read = try stored(text) { return read }
    throw misfit(.string(text))
  }

  /// The value that a text stands for, whether it is the text of a CSV field or a JSON string.
  private func stored(_ text: String) throws -> PersistentValue? {
    switch field.kind {
    case .string: return .text(text)
    case .url: return URL(string: text) == nil ? nil : .text(text)
    case .bool: return text == "true" ? .bool(true) : (text == "false" ? .bool(false) : nil)
    case .data: return Data(base64Encoded: text).map { .bytes([UInt8]($0)) }
    case .uuid: return UUID(uuidString: text).map { .uuid($0) }
    case .document: return (try? JSONDocument.canonical(text)).map { .document($0) }
    case .date: return ISO8601Reader.seconds(text).map { .date($0) }
    default:
      if let special = SpecialNumber.value(text) {
        if field.kind == .double || field.kind == .float { return .double(special) }
        return field.kind == .decimal && special.isNaN ? .decimal(.nan) : nil
      }
      return number(text)
    }
  }

  /// The number that a text spells, where the field can hold it.
  private func number(_ text: String) -> PersistentValue? {
    guard let exact = ExactNumber(text) else { return nil }
    switch field.kind {
    case .double:
      guard let number = Double(text), number.isFinite else { return nil }
      return .double(TotalOrder.normalized(number))
    case .float:
      guard let number = Float(text), number.isFinite else { return nil }
      return .double(TotalOrder.normalized(Double(number)))
    case .decimal: return exact.decimal.map { .decimal($0) }
    default:
      guard let integer = exact.int64, field.kind.integerRange?.contains(integer) ?? false else { return nil }
      return .integer(integer)
    }
  }
}
