import PersistenceDriver

/// The text of a statement, scanned for what SQLite does not report.
struct SQLiteText {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  /// The conditions of the `CHECK` constraints.
  var checks: [String] {
    var found: [String] = []
    var isAwaited = false
    var position = 0
    while position < bytes.count {
      let start = position
      if isAwaited, bytes[position] == UInt8(ascii: "(") {
        position = endOfGroup(position)
        found.append(text(start..<position))
        isAwaited = false
        continue
      }
      position = endOfToken(position)
      let token = bytes[start..<position]
      if isSpace(token) { continue }
      isAwaited = String(decoding: token, as: UTF8.self).uppercased() == "CHECK"
    }
    return found
  }

  /// The first word in capital letters, such as SELECT; empty if the text begins with another token.
  var firstWord: String {
    var position = 0
    while position < bytes.count {
      let start = position
      position = endOfToken(position)
      if !isSpace(bytes[start..<position]) {
        return isWord(bytes[start]) ? text(start..<position).uppercased() : ""
      }
    }
    return ""
  }

  /// Whether the text contains a word outside of quotation marks and comments.
  func hasWord(_ word: String) -> Bool {
    var position = 0
    while position < bytes.count {
      let start = position
      position = endOfToken(position)
      if String(decoding: bytes[start..<position], as: UTF8.self).uppercased() == word { return true }
    }
    return false
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private func isSpace(_ token: ArraySlice<UInt8>) -> Bool {
    guard let first = token.first else { return true }
    if first <= 0x20 { return true }
    return token.count > 1 && (token.starts(with: Array("--".utf8)) || token.starts(with: Array("/*".utf8)))
  }

  /// The position after the parenthesis that closes the one at a position.
  private func endOfGroup(_ start: Int) -> Int {
    var (position, depth) = (start, 0)
    while position < bytes.count {
      let first = bytes[position]
      position = endOfToken(position)
      if first == UInt8(ascii: "(") { depth += 1 }
      if first == UInt8(ascii: ")") { depth -= 1 }
      if depth == 0 { return position }
    }
    return bytes.count
  }

  /// The position after the token at a position: a quoted name or text, a comment, a word, or one character.
  private func endOfToken(_ start: Int) -> Int {
    switch bytes[start] {
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
      return end(of: bytes[start], after: start + 1)
    case UInt8(ascii: "["): return end(of: UInt8(ascii: "]"), after: start + 1)
    case UInt8(ascii: "-") where next(start) == UInt8(ascii: "-"): return end(of: 0x0A, after: start + 2)
    case UInt8(ascii: "/") where next(start) == UInt8(ascii: "*"):
      var position = start + 2
      while position + 1 < bytes.count {
        if bytes[position] == UInt8(ascii: "*"), bytes[position + 1] == UInt8(ascii: "/") {
          return position + 2
        }
        position += 1
      }
      return bytes.count
    case let byte where isWord(byte):
      var position = start
      while position < bytes.count, isWord(bytes[position]) { position += 1 }
      return position
    default: return start + 1
    }
  }

  private func next(_ position: Int) -> UInt8? { position + 1 < bytes.count ? bytes[position + 1] : nil }

  // A doubled quotation mark ends one text and begins another, which the caller skips like one.
  private func end(of mark: UInt8, after start: Int) -> Int {
    (bytes[start...].firstIndex(of: mark) ?? bytes.count - 1) + 1
  }

  private func isWord(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 95
      || byte >= 0x80
  }
}

extension SQLiteConnection {
  /// The statement that created a table; empty for a view.
  func declaration(of table: String) throws -> SQLiteText {
    let found = try rows(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1", [.text(table)]
    ).first?.first
    guard case .text(let text)? = found else { return SQLiteText("") }
    return SQLiteText(text)
  }
}
