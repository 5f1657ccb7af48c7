import Foundation
import PersistenceDriver
import PersistencePrimitives
import PersistenceDriverSupport

/// Reads the values of a field in an imported file, by the lenient ``ValueReader``, and converts others to
/// text.
struct FieldReader {
  /// A value, and the conversion that it needed.
  struct Outcome {
    let value: PersistentValue
    /// A conversion such as `number to text`; nil for none.
    var conversion: String?
  }

  let field: FieldSchema

  /// Reads a value.
  ///
  /// - Throws: ``RecordRejection`` if the field cannot hold it.
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

  private func mismatch(_ value: JSONValue) -> RecordRejection {
    let shown = TerminalText.cut(TerminalText.safe(JSONText.canonical(value)), to: 40)
    return rejection("is \(shown), which is not a valid \(field.kind.rawValue)")
  }

  /// Checks that a floating-point field keeps an integer, which is written without a fraction and an exponent.
  ///
  /// It does if the nearest number has the same value, or the same shortest digits, as 10²³ has.
  ///
  /// - Throws: ``RecordRejection``.
  private func requireExact(_ text: String, as read: PersistentValue) throws {
    guard field.kind == .double || field.kind == .float, Self.isInteger(text),
      case .double(let number) = read, number.isFinite
    else { return }
    if let integer = Int64(text), Int64(exactly: number) == integer { return }
    let exact = ExactNumber(text)
    guard
      ExactNumber(ValueWriter.text(read, field.kind)) != exact,
      ExactNumber(String(format: "%.0f", number)) != exact
    else { return }
    let shown = TerminalText.cut(TerminalText.safe(text), to: 40)
    throw rejection("is \(shown), which a \(field.kind.rawValue) cannot hold exactly")
  }

  private static func isInteger(_ text: String) -> Bool {
    !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
  }

  private func read(_ value: JSONValue) throws -> Outcome {
    if let read = ValueReader.lenient.value(value, field.kind) {
      switch value {
      case .number(let text), .string(let text): try requireExact(text, as: read)
      default: break
      }
      return Outcome(value: read, conversion: conversion(of: value))
    }
    switch (field.kind, value) {
    case (.string, .number(let text)), (.url, .number(let text)):
      return Outcome(value: .text(text), conversion: "number to text")
    case (.string, .bool(let truth)):
      return Outcome(value: .text("\(truth)"), conversion: "truth value to text")
    case (.string, .array), (.string, .object):
      return Outcome(value: .text(JSONText.canonical(value)), conversion: "document to text")
    default: throw mismatch(value)
    }
  }

  /// The conversion beyond the spelling; nil for none.
  private func conversion(of value: JSONValue) -> String? {
    let isFloating = field.kind == .double || field.kind == .float
    switch value {
    case .string(let text):
      let isScalar = field.kind.isInteger || isFloating || field.kind == .decimal || field.kind == .bool
      return isScalar && SpecialNumber.value(text) == nil ? "text to \(field.kind.rawValue)" : nil
    case .number(let text):
      return isFloating && Self.isInteger(text) ? "integer to \(field.kind.rawValue)" : nil
    default: return nil
    }
  }

  private func cell(_ text: String) throws -> PersistentValue {
    guard let read = ValueReader.lenient.value(ofText: text, field.kind) else {
      throw mismatch(.string(text))
    }
    try requireExact(text, as: read)
    return read
  }
}
