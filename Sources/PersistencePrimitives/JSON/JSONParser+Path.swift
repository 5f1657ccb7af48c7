extension JSONParser {
  /// Reads the value at a path of member names and nothing behind it; nil if a member is missing.
  ///
  /// Values beside the path are skipped without being read.
  package mutating func parseValue(at path: [String]) throws(JSONSyntaxError) -> JSONValue? {
    for name in path {
      guard try enter(member: name) else { return nil }
    }
    return try parseValue()
  }

  /// Moves to the value of a member; false if there is none, or the next value is not an object.
  private mutating func enter(member name: String) throws(JSONSyntaxError) -> Bool {
    guard skip("{") else { return false }
    if skip("}") { return false }
    while true {
      skipSpace()
      guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
        throw failure("a member's name in double quotes was expected")
      }
      let found = try parseString()
      guard skip(":") else { throw failure("“:” was expected") }
      if found.utf8.elementsEqual(name.utf8) { return true }
      try skipValue()
      if skip("}") { return false }
      guard skip(",") else { throw failure("“,” or “}” was expected") }
    }
  }

  /// Skips the next value, and checks no more of it than its strings' ends and its brackets.
  private mutating func skipValue() throws(JSONSyntaxError) {
    var depth = 0
    repeat {
      skipSpace()
      guard position < bytes.count else { throw failure("the text ends where a value was expected") }
      switch bytes[position] {
      case UInt8(ascii: "\""): try skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        position += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"): position += 1
      default: skipWord()
      }
    } while depth > 0
    if depth < 0 { throw failure("a value was expected") }
  }

  private mutating func skipString() throws(JSONSyntaxError) {
    let start = position
    position += 1
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        position += 1
        return
      case UInt8(ascii: "\\"): position += 2
      default: position += 1
      }
    }
    throw failure("the string has no end", at: start)
  }

  /// Skips a number, `true`, `false` or `null`.
  private mutating func skipWord() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "}"), UInt8(ascii: "]"):
        return
      default: position += 1
      }
    }
  }
}
