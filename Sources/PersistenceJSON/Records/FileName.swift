import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Encodes keys and model names as file names that are safe on every file system (contract E6).
///
/// `[a-z0-9_-]` are literal. Every other byte, including upper-case letters, is `%` and two hexadecimal
/// digits. So no two names differ only by case, none contains a separator, and none begins with a dot. `+`
/// joins the parts of a composite key. The empty text is `%`. A name that Windows reserves has its first
/// letter escaped. A name longer than 200 bytes becomes its first bytes, `~`, and the SHA-256 of the whole
/// name; then only the file's content has the key.
enum FileName {
  static let suffix = ".json"
  private static let limit = 200
  private static let reserved: Set<String> = Set(
    ["con", "prn", "aux", "nul"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] })

  /// The name of a record's file.
  static func file(for key: RecordKey) -> String {
    if key.values.count == 1 {
      if case .integer(let number) = key.values[0] { return "\(number)" + suffix }
      if case .text(let text) = key.values[0], isPlain(text) { return text + suffix }
    }
    return shortened(key.values.map(escaped).joined(separator: "+")) + suffix
  }

  /// The folder name of a new model: the model's name, or its escaped form.
  ///
  /// It is escaped if a file system may reject the name, or if another folder differs only by case; a number follows if
  /// the escaped forms are taken too, by models that kept their folders when they were renamed.
  static func folder(for model: String, besides others: [String]) -> String {
    let taken = Set(others.map { $0.lowercased() })
    let keepsName =
      !model.isEmpty && model.utf8.count <= limit && !reserved.contains(model.lowercased())
      && model.utf8.allSatisfy { isPlain($0, orUpperCase: true) }
    if keepsName, !taken.contains(model.lowercased()) { return model }
    let name = shortened(escaped(.text(model)))
    guard taken.contains(name), let first = name.utf8.first else { return name }
    let other = "%" + String(first, radix: 16) + name.dropFirst()
    guard taken.contains(other) else { return other }
    var number = 2
    while taken.contains("\(name)~\(number)") { number += 1 }
    return "\(name)~\(number)"
  }

  /// Whether a folder name of a catalog stays inside the store.
  static func isFolder(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy {
        isPlain($0, orUpperCase: true) || $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "~")
      }
  }

  private static func isPlain(_ byte: UInt8, orUpperCase: Bool = false) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
      UInt8(ascii: "-"):
      true
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): orUpperCase
    default: false
    }
  }

  /// The key in a file name; nil if the name is shortened.
  ///
  /// - Throws: ``PersistenceError`` with code `damaged` if the name is not that of a record.
  static func key(of file: String, in schema: ModelSchema) throws -> RecordKey? {
    guard let stem = stem(of: file) else { throw foreign(file) }
    if stem.utf8.contains(UInt8(ascii: "~")) { return nil }
    let parts = stem.split(separator: "+", omittingEmptySubsequences: false)
    guard parts.count == schema.keyPositions.count else { throw foreign(file) }
    var values: [PersistentValue] = []
    for (part, position) in zip(parts, schema.keyPositions) {
      guard let text = unescaped(part),
        let value = ValueReader.strict.value(ofText: text, schema.fields[position].kind)
      else {
        throw foreign(file)
      }
      values.append(value)
    }
    return RecordKey(values)
  }

  /// The key in a file name without escapes, as most are; nil for any other name.
  ///
  /// ``file(for:)`` returns the same name for the key.
  static func plainKey(of file: String, in schema: ModelSchema) -> RecordKey? {
    guard schema.keyPositions.count == 1, let stem = stem(of: file) else { return nil }
    switch schema.fields[schema.keyPositions[0]].kind {
    case .string: return isPlain(stem) ? RecordKey([.text(String(stem))]) : nil
    case .int64:
      let digits = stem.utf8.first == UInt8(ascii: "-") ? stem.dropFirst() : stem
      guard let first = digits.utf8.first, first > UInt8(ascii: "0"), first <= UInt8(ascii: "9"),
        let number = Int64(stem)
      else { return nil }
      return RecordKey([.integer(number)])
    default: return nil
    }
  }

  /// The name without its suffix; nil if it has another one.
  ///
  /// Bytes are compared: some characters, such as U+06DD, form one character with the suffix's dot.
  static func stem(of file: String) -> Substring? {
    var file = file
    let hasSuffix = file.withUTF8 { bytes in
      bytes.count >= suffixCount && isSuffix(bytes, from: bytes.count - suffixCount)
    }
    return hasSuffix ? Substring(file.utf8.dropLast(suffixCount)) : nil
  }

  private static let suffixCount = 5

  /// Whether bytes are ``suffix`` from an index on.
  @inline(__always)
  private static func isSuffix(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
    bytes[start] == UInt8(ascii: ".") && bytes[start + 1] == UInt8(ascii: "j")
      && bytes[start + 2] == UInt8(ascii: "s") && bytes[start + 3] == UInt8(ascii: "o")
      && bytes[start + 4] == UInt8(ascii: "n")
  }

  /// Whether a text is its own file name.
  private static func isPlain(_ text: some StringProtocol) -> Bool {
    let count = text.utf8.count
    return count > 0 && count <= limit && text.utf8.allSatisfy { isPlain($0) }
      && (count > 4 || !reserved.contains(String(text)))
  }

  private static func foreign(_ file: String) -> PersistenceError {
    PersistenceError.damaged("the file name “\(file)” is not the name of a record's key")
  }

  private static func escaped(_ value: PersistentValue) -> String {
    let text: String
    switch value {
    case .integer(let number): text = "\(number)"
    case .uuid(let uuid): text = uuid.uuidString.lowercased()
    case .text(let string): text = string
    default: text = "\(value)"
    }
    if text.isEmpty { return "%" }
    var result = ""
    let isReserved = reserved.contains(text)
    for (index, byte) in text.utf8.enumerated() {
      if isPlain(byte), index > 0 || !isReserved {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += byte < 16 ? "%0" : "%"
        result += String(byte, radix: 16)
      }
    }
    return result
  }

  private static func unescaped(_ part: Substring) -> String? {
    if part == "%" { return "" }
    var bytes: [UInt8] = []
    var rest = Array(part.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else {
        return nil
      }
      bytes.append(value)
      rest.removeFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > limit else { return name }
    let digest = SHA256.hash(data: name.utf8).hexadecimal
    return String(decoding: name.utf8.prefix(limit - 65), as: UTF8.self) + "~" + digest
  }
}
