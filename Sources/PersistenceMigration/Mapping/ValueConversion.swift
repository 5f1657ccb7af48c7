import Foundation
import PersistenceDriver
import PersistencePrimitives

/// Makes values of one kind of values of any.
struct ValueConversion: Sendable {
  let kind: FieldKind
  /// How dates stand in texts and numbers.
  var dates: [DateForm] = []

  /// Converts; nil stays nil.
  func convert(_ value: PersistentValue) -> ConvertedValue {
    if value.isNull { return .exact(.null) }
    if case .document(let text) = value, kind != .document, kind != .string || !Self.isComposite(text) {
      return content(text).map(convert) ?? .impossible("the document is none of one value")
    }
    switch kind {
    case .bool: return truth(value)
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: return integer(value)
    case .double, .float: return double(value)
    case .decimal: return decimal(value)
    case .string: return text(value)
    case .url:
      guard case .exact(.text(let text)) = text(value), URL(string: text) != nil else { return misfit(value) }
      return .exact(.text(text))
    case .data: return bytes(value)
    case .uuid: return uuid(value)
    case .date: return date(value)
    case .document: return document(value)
    }
  }

  private func misfit(_ value: PersistentValue) -> ConvertedValue {
    .impossible("\(value.loggedDescription) is no \(kind.rawValue)")
  }

  /// Whether a document is an array or an object that stands for itself.
  private static func isComposite(_ text: String) -> Bool {
    guard let first = text.utf8.first else { return false }
    return first == UInt8(ascii: "[") || (first == UInt8(ascii: "{") && !text.hasPrefix("{\"$"))
  }

  /// The one value that a document is: a number, text or truth value, or one that is wrapped because JSON has none such.
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
    default: misfit(value)
    }
  }

  private func integer(_ value: PersistentValue) -> ConvertedValue {
    guard let range = kind.integerRange else { return misfit(value) }
    func fit(_ number: Int64?, _ rounded: Int64? = nil) -> ConvertedValue {
      if let number { return range.contains(number) ? .exact(.integer(number)) : misfit(value) }
      guard let rounded, range.contains(rounded) else { return misfit(value) }
      return .rounded(.integer(rounded), "the fraction of \(value.loggedDescription)")
    }
    switch value {
    case .integer(let number): return fit(number)
    case .bool(let truth): return fit(truth ? 1 : 0)
    case .double(let number):
      return number.isFinite
        ? fit(Int64(exactly: number), Int64(exactly: number.rounded(.towardZero))) : misfit(value)
    case .decimal(let number):
      guard !number.isNaN, let exact = ExactNumber(number.canonicalText) else { return misfit(value) }
      return fit(exact.int64, exact.isNegative ? exact.ceiling : exact.floor)
    case .text(let text):
      guard let exact = ExactNumber(text) else { return misfit(value) }
      return fit(exact.int64, exact.isNegative ? exact.ceiling : exact.floor)
    default: return misfit(value)
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
    default: return misfit(value)
    }
  }

  private func decimalText(_ text: String, _ value: PersistentValue) -> ConvertedValue {
    guard let exact = ExactNumber(text) else { return misfit(value) }
    if let number = exact.double { return narrowed(number, isExact: true, value) }
    guard let number = Double(text), number.isFinite else { return misfit(value) }
    return narrowed(number, isExact: false, value)
  }

  private func narrowed(_ number: Double, isExact: Bool, _ value: PersistentValue) -> ConvertedValue {
    var (number, isExact) = (number, isExact)
    if kind == .float, number.isFinite {
      let narrow = Double(Float(number))
      guard narrow.isFinite else { return misfit(value) }
      // What was spelled in decimal digits is whole where its digits come back; a double where its bits do.
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
    default: return misfit(value)
    }
    guard let exact = ExactNumber(text)?.decimal else { return misfit(value) }
    return .exact(.decimal(exact))
  }

  private func text(_ value: PersistentValue) -> ConvertedValue {
    switch value {
    case .text, .null: return .exact(value)
    case .bool(let truth): return .exact(.text("\(truth)"))
    case .integer(let number): return .exact(.text("\(number)"))
    case .double(let number): return .exact(.text(SpecialNumber.text(number) ?? "\(number)"))
    case .date(let seconds): return .exact(.text(DateText.text(seconds)))
    case .uuid(let uuid): return .exact(.text(uuid.uuidString))
    case .decimal(let number): return .exact(.text(number.canonicalText))
    case .document(let text): return .exact(.text(text))
    case .bytes(let bytes):
      return String(validating: bytes, as: UTF8.self).map { .exact(.text($0)) } ?? misfit(value)
    }
  }

  private func bytes(_ value: PersistentValue) -> ConvertedValue {
    switch value {
    case .bytes: .exact(value)
    case .text(let text): .exact(.bytes([UInt8](text.utf8)))
    case .uuid(let uuid): .exact(.bytes(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) }))
    default: misfit(value)
    }
  }

  private func uuid(_ value: PersistentValue) -> ConvertedValue {
    switch value {
    case .uuid: return .exact(value)
    case .text(let text): return UUID(uuidString: text).map { .exact(.uuid($0)) } ?? misfit(value)
    case .bytes(let bytes) where bytes.count == 16:
      return .exact(.uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })))
    default: return misfit(value)
    }
  }

  private func date(_ value: PersistentValue) -> ConvertedValue {
    switch value {
    case .date: return .exact(value)
    case .text(let text):
      for form in dates {
        if form.isText {
          if let found = form.moment(text) { return moment(found, value) }
        } else if let number = ExactNumber(text)?.double, let found = form.seconds(number) {
          // Numbers stand in texts, too, where a column was declared as one.
          return moment(found, value)
        }
      }
      return misfit(value)
    case .integer(let integer):
      let number = Double(integer)
      guard Int64(exactly: number) == integer else { return misfit(value) }
      return moment(number, value)
    case .double(let number): return moment(number, value)
    default: return misfit(value)
    }
  }

  private func moment(_ number: Double, _ value: PersistentValue) -> ConvertedValue {
    for form in dates {
      if let found = form.seconds(number) { return moment(found, value) }
    }
    return misfit(value)
  }

  private func moment(_ found: (seconds: Double, isExact: Bool), _ value: PersistentValue) -> ConvertedValue {
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
      guard case .exact(.text(let text)) = text(value) else { return misfit(value) }
      return .exact(.document(JSONText.canonical(.string(text))))
    }
  }
}
