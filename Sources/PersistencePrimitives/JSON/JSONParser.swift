/// Reads JSON text by RFC 8259, strictly: no comments, no trailing commas, no duplicate names, valid UTF-8
/// only.
///
/// The parser skips a byte-order mark at the beginning.
package struct JSONParser {
  /// The maximum nesting depth of a document, so that no text overflows the stack.
  package static let depthLimit = 512

  /// What a text contains, which determines how deeply it may be nested.
  package enum Content: Sendable {
    /// One document.
    case document
    /// Documents within records, pages, changes, batches or exported lines, which add a few levels.
    case envelope

    fileprivate var depthLimit: Int { self == .document ? JSONParser.depthLimit : JSONParser.depthLimit + 16 }
  }

  private let depthLimit: Int

  let bytes: UnsafeBufferPointer<UInt8>

  /// The number of bytes read so far.
  package internal(set) var position = 0

  /// Makes a parser over UTF-8 text, which must stay valid while it is used.
  package init(_ bytes: UnsafeRawBufferPointer, of content: Content = .document) {
    depthLimit = content.depthLimit
    self.bytes = bytes.bindMemory(to: UInt8.self)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// Reads text that contains exactly one value.
  package static func parse(_ bytes: UnsafeRawBufferPointer, of content: Content = .document)
    throws(JSONSyntaxError) -> JSONValue
  {
    var parser = JSONParser(bytes, of: content)
    let value = try parser.parseValue()
    guard parser.isAtEnd else { throw parser.failure("unexpected text after the value") }
    return value
  }

  /// Reads text that contains exactly one value.
  package static func parse(_ text: String, of content: Content = .document) throws(JSONSyntaxError)
    -> JSONValue
  {
    var text = text
    let result = text.withUTF8 { bytes in
      Result { () throws(JSONSyntaxError) in
        try parse(UnsafeRawBufferPointer(bytes), of: content)
      }
    }
    return try result.get()
  }

  /// Whether only white space is left.
  package var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return position == bytes.count
    }
  }

  /// Reads the next value.
  package mutating func parseValue() throws(JSONSyntaxError) -> JSONValue { try parseValue(depth: 0) }

  /// The line and column of the next byte.
  package var place: (line: Int, column: Int) { place(at: position) }

  func place(at position: Int) -> (line: Int, column: Int) {
    var line = 1
    var start = 0
    for index in 0..<min(position, bytes.count) where bytes[index] == UInt8(ascii: "\n") {
      line += 1
      start = index + 1
    }
    return (line, position - start + 1)
  }

  func failure(_ reason: String, at position: Int? = nil) -> JSONSyntaxError {
    let place = place(at: position ?? self.position)
    return JSONSyntaxError(reason: reason, line: place.line, column: place.column)
  }

  mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  /// Skips white space, and consumes the byte if it comes next.
  mutating func skip(_ byte: Unicode.Scalar) -> Bool {
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: byte) else { return false }
    position += 1
    return true
  }

  private mutating func parseValue(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    skipSpace()
    guard position < bytes.count else { throw failure("the text ends where a value was expected") }
    switch bytes[position] {
    case UInt8(ascii: "{"): return try parseObject(depth: depth + 1)
    case UInt8(ascii: "["): return try parseArray(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try parseString())
    case UInt8(ascii: "t"): return try parseWord("true", .bool(true))
    case UInt8(ascii: "f"): return try parseWord("false", .bool(false))
    case UInt8(ascii: "n"): return try parseWord("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try parseNumber())
    default: throw failure("a value cannot start with this character")
    }
  }

  private mutating func parseWord(_ word: StaticString, _ value: JSONValue) throws(JSONSyntaxError)
    -> JSONValue
  {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count else { throw failure("“\(word)” was expected") }
    for index in 0..<word.utf8CodeUnitCount where bytes[position + index] != word.utf8Start[index] {
      throw failure("“\(word)” was expected")
    }
    position = end
    return value
  }

  private mutating func parseArray(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    guard depth <= depthLimit else { throw failure("nested deeper than \(depthLimit) levels") }
    position += 1
    var elements: [JSONValue] = []
    if skip("]") { return .array(elements) }
    while true {
      elements.append(try parseValue(depth: depth))
      if skip("]") { return .array(elements) }
      guard skip(",") else { throw failure("“,” or “]” was expected") }
    }
  }

  private mutating func parseObject(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    guard depth <= depthLimit else { throw failure("nested deeper than \(depthLimit) levels") }
    position += 1
    var members: [JSONMember] = []
    var names: Set<StoredName> = []
    if skip("}") { return .object(members) }
    while true {
      skipSpace()
      let start = position
      guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
        throw failure("a member's name in double quotes was expected")
      }
      let name = try parseString()
      guard Self.isNew(StoredName(name), members, &names) else {
        throw failure("the member “\(name)” occurs twice", at: start)
      }
      guard skip(":") else { throw failure("“:” was expected") }
      members.append(JSONMember(name, try parseValue(depth: depth)))
      if skip("}") { return .object(members) }
      guard skip(",") else { throw failure("“,” or “}” was expected") }
    }
  }

  /// How many names are compared one by one; to fill a set with them would take longer.
  private static let fewNames = 16

  /// Whether none of an object's members has a name; a large object keeps its names in the set.
  private static func isNew(_ name: StoredName, _ members: [JSONMember], _ names: inout Set<StoredName>)
    -> Bool
  {
    if members.count < fewNames { return !members.contains { StoredName($0.name) == name } }
    if names.isEmpty { names = Set(members.map { StoredName($0.name) }) }
    return names.insert(name).inserted
  }

  private mutating func parseNumber() throws(JSONSyntaxError) -> String {
    let start = position
    func digit(_ position: Int) -> Bool {
      position < bytes.count && bytes[position] >= UInt8(ascii: "0") && bytes[position] <= UInt8(ascii: "9")
    }
    if bytes[position] == UInt8(ascii: "-") { position += 1 }
    guard digit(position) else { throw failure("a digit was expected") }
    if bytes[position] == UInt8(ascii: "0") {
      position += 1
      if digit(position) { throw failure("a number cannot begin with 0") }
    } else {
      while digit(position) { position += 1 }
    }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      guard digit(position) else { throw failure("a digit was expected after the point") }
      while digit(position) { position += 1 }
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      guard digit(position) else { throw failure("a digit was expected in the exponent") }
      while digit(position) { position += 1 }
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }
}

extension JSONValue {
  /// Whether the value is nested no deeper than a document may be.
  package var isWithinDepthLimit: Bool { isNested(within: JSONParser.depthLimit) }

  private func isNested(within limit: Int) -> Bool {
    switch self {
    case .array(let elements): limit > 0 && elements.allSatisfy { $0.isNested(within: limit - 1) }
    case .object(let members): limit > 0 && members.allSatisfy { $0.value.isNested(within: limit - 1) }
    default: true
    }
  }
}
