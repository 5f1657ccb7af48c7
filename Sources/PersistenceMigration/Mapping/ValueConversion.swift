import Foundation
import PersistenceDriver
import PersistencePrimitives
import PersistenceDriverSupport

/// Converts values of any kind to one kind.
struct ValueConversion: Sendable {
  let kind: FieldKind
  var dates: [DateFormat] = []

  /// Converts a value; nil stays nil.
  func convert(_ value: PersistentValue) -> ConvertedValue {
    if value.isNull { return .exact(.null) }
    if case .document(let text) = value, kind != .document, kind != .string || !Self.isComposite(text) {
      return content(text).map(convert) ?? .impossible("the document is not a single value")
    }
    switch kind {
    case .bool: return truth(value)
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: return integer(value)
    case .double, .float: return double(value)
    case .decimal: return decimal(value)
    case .string: return text(value)
    case .url:
      guard case .exact(.text(let text)) = text(value), URL(string: text) != nil else {
        return mismatch(value)
      }
      return .exact(.text(text))
    case .data: return bytes(value)
    case .uuid: return uuid(value)
    case .date: return date(value)
    case .document: return document(value)
    }
  }

  private func mismatch(_ value: PersistentValue) -> ConvertedValue {
    .impossible("\(value.loggedDescription) is not a valid \(kind.rawValue)")
  }

  /// Whether a document is an array, or an object that does not wrap a value.
  private static func isComposite(_ text: String) -> Bool {
    guard let first = text.utf8.first else { return false }
    return first == UInt8(ascii: "[") || (first == UInt8(ascii: "{") && !text.hasPrefix("{\"$"))
  }

  /// The value of a document that is a number, text, a truth value, or an object that wraps bytes or a
  /// special number.
  private func content(_ text: String) -> PersistentValue? {
    guard let value = try? JSONParser.parse(text) else { return nil }
    switch value {
    case .null: return .null
    case .bool(let truth): return .bool(truth)
    case .string(let text): return .text(text)
    case .number(let text):
      if let integer = Int64(text) { return .integer(integer) }
      let exact = ExactNumber(text)
      if let number = exact?.double { return .double(number) }
      return exact?.decimal.map { .decimal($0) }
    case .object(let members):
      guard members.count == 1, case .string(let text) = members[0].value else { return nil }
      if members[0].name == "$bytes" { return Data(base64Encoded: text).map { .bytes([UInt8]($0)) } }
      return members[0].name == "$real" ? SpecialNumber.value(text).map { .double($0) } : nil
    case .array: return nil
    }
  }

  private func truth(_ value: PersistentValue) -> ConvertedValue {
    switch value {
    case .bool: .exact(value)
    case .integer(0), .double(0), .text("false"), .text("0"): .exact(.bool(false))
    case .integer(1), .double(1), .text("true"), .text("1"): .exact(.bool(true))
    default: mismatch(value)
    }
  }

  private func integer(_ value: PersistentValue) -> ConvertedValue {
    guard let range = kind.integerRange else { return mismatch(value) }
    func result(_ number: Int64?, _ rounded: Int64? = nil) -> ConvertedValue {
      if let number { return range.contains(number) ? .exact(.integer(number)) : mismatch(value) }
      guard let rounded, range.contains(rounded) else { return mismatch(value) }
      return .rounded(.integer(rounded), "the fraction of \(value.loggedDescription)")
    }
    switch value {
    case .integer(let number): return result(number)
    case .bool(let truth): return result(truth ? 1 : 0)
    case .double(let number):
      return number.isFinite
        ? result(Int64(exactly: number), Int64(exactly: number.rounded(.towardZero))) : mismatch(value)
    case .decimal(let number):
      guard !number.isNaN, let exact = ExactNumber(number.canonicalText) else { return mismatch(value) }
      return result(exact.int64, exact.isNegative ? exact.ceiling : exact.floor)
    case .text(let text):
      guard let exact = ExactNumber(text) else { return mismatch(value) }
      return result(exact.int64, exact.isNegative ? exact.ceiling : exact.floor)
    default: return mismatch(value)
    }
  }

  private func double(_ value: PersistentValue) -> ConvertedValue {
    switch value {
    case .double(let number): return narrowed(number, isExact: true, value)
    case .integer(let integer):
      let number = Double(integer)
      return narrowed(number, isExact: Int64(exactly: number) == integer, value)
    case .decimal(let number):
      return number.isNaN ? .exact(.double(.nan)) : decimalText(number.canonicalText, value)
    case .text(let text):
      if let special = SpecialNumber.value(text) { return .exact(.double(special)) }
      return decimalText(text, value)
    default: return mismatch(value)
    }
  }

  private func decimalText(_ text: String, _ value: PersistentValue) -> ConvertedValue {
    guard let exact = ExactNumber(text) else { return mismatch(value) }
    if let number = exact.double { return narrowed(number, isExact: true, value) }
    guard let number = Double(text), number.isFinite else { return mismatch(value) }
    return narrowed(number, isExact: false, value)
  }

  private func narrowed(_ number: Double, isExact: Bool, _ value: PersistentValue) -> ConvertedValue {
    var (number, isExact) = (number, isExact)
    if kind == .float, number.isFinite {
      let narrow = Double(Float(number))
      guard narrow.isFinite else { return mismatch(value) }
      // A decimal number is exact if its digits come back; a double is exact if its bits do.
      let isDouble = if case .double = value { true } else { false }
      isExact = isExact && (narrow == number || (!isDouble && "\(Float(number))" == "\(number)"))
      number = narrow
    }
    return isExact
      ? .exact(.double(number)) : .rounded(.double(number), "digits of \(value.loggedDescription)")
  }

  private func decimal(_ value: PersistentValue) -> ConvertedValue {
    let text: String
    switch value {
    case .decimal: return .exact(value)
    case .integer(let number): text = "\(number)"
    case .double(let number):
      if number.isNaN { return .exact(.decimal(.nan)) }
      text = "\(number)"
    case .text(let spelled): text = spelled
    default: return mismatch(value)
    }
    guard let exact = ExactNumber(text)?.decimal else { return mismatch(value) }
    return .exact(.decimal(exact))
  }

  private func text(_ value: PersistentValue) -> ConvertedValue {
    switch value {
    case .text, .null: return .exact(value)
    case .bytes(let bytes):
      return String(validating: bytes, as: UTF8.self).map { .exact(.text($0)) } ?? mismatch(value)
    default: return .exact(.text(ValueWriter.text(value, .double)))
    }
  }

  private func bytes(_ value: PersistentValue) -> ConvertedValue {
    switch value {
    case .bytes: .exact(value)
    case .text(let text): .exact(.bytes([UInt8](text.utf8)))
    case .uuid(let uuid): .exact(.bytes(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) }))
    default: mismatch(value)
    }
  }

  private func uuid(_ value: PersistentValue) -> ConvertedValue {
    switch value {
    case .uuid: return .exact(value)
    case .text(let text): return UUID(uuidString: text).map { .exact(.uuid($0)) } ?? mismatch(value)
    case .bytes(let bytes) where bytes.count == 16:
      return .exact(.uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })))
    default: return mismatch(value)
    }
  }

  private func date(_ value: PersistentValue) -> ConvertedValue {
    switch value {
    case .date: return .exact(value)
    case .text(let text):
      for format in dates {
        if format.isText {
          if let found = format.seconds(ofText: text) { return dateResult(found, value) }
        } else if let number = ExactNumber(text)?.double, let found = format.seconds(number) {
          // A text column may contain numbers, too.
          return dateResult(found, value)
        }
      }
      return mismatch(value)
    case .integer(let integer):
      let number = Double(integer)
      guard Int64(exactly: number) == integer else { return mismatch(value) }
      return dateResult(number, value)
    case .double(let number): return dateResult(number, value)
    default: return mismatch(value)
    }
  }

  private func dateResult(_ number: Double, _ value: PersistentValue) -> ConvertedValue {
    for format in dates {
      if let found = format.seconds(number) { return dateResult(found, value) }
    }
    return mismatch(value)
  }

  private func dateResult(_ found: (seconds: Double, isExact: Bool), _ value: PersistentValue)
    -> ConvertedValue
  {
    let date = PersistentValue.date(found.seconds)
    return found.isExact ? .exact(date) : .rounded(date, "digits of \(value.loggedDescription)")
  }

  private func document(_ value: PersistentValue) -> ConvertedValue {
    func wrapped(_ name: String, _ text: String) -> ConvertedValue {
      .exact(.document(JSONText.canonical(.object([JSONMember(name, .string(text))]))))
    }
    switch value {
    case .document, .null: return .exact(value)
    case .bool(let truth): return .exact(.document("\(truth)"))
    case .integer(let number): return .exact(.document("\(number)"))
    case .double(let number):
      if let special = SpecialNumber.text(number) { return wrapped("$real", special) }
      return .exact(.document("\(number)"))
    case .decimal(let number):
      return number.isNaN ? wrapped("$real", SpecialNumber.nan) : .exact(.document(number.canonicalText))
    case .bytes(let bytes): return wrapped("$bytes", Data(bytes).base64EncodedString())
    case .text, .date, .uuid:
      guard case .exact(.text(let text)) = text(value) else { return mismatch(value) }
      return .exact(.document(JSONText.canonical(.string(text))))
    }
  }
}

/// The result of a conversion.
enum ConvertedValue: Equatable {
  /// The same value in the other kind.
  case exact(PersistentValue)
  /// The nearest value of the kind, with a description of the loss.
  case rounded(PersistentValue, String)
  /// No value of the kind, with the reason.
  case impossible(String)
}
