import PersistenceDriver

/// Escapes and measures text for a terminal.
enum TerminalText {
  /// Escapes control characters, so that stored data cannot control a terminal or break a line.
  static func safe(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var safe = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": safe.append(contentsOf: "\\n".unicodeScalars)
      case "\r": safe.append(contentsOf: "\\r".unicodeScalars)
      case "\t": safe.append(contentsOf: "\\t".unicodeScalars)
      case _ where isControl(scalar):
        safe.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      default: safe.append(scalar)
      }
    }
    return String(safe)
  }

  /// The approximate number of columns of a text: two for East Asian wide characters and emoji.
  static func width(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  /// Truncates a text to a number of columns and marks the cut with `…`.
  static func cut(_ text: String, to limit: Int) -> String {
    guard width(text) > limit else { return text }
    var result = ""
    var used = 0
    for character in text {
      let width = width(character)
      guard used + width < limit else { break }
      result.append(character)
      used += width
    }
    return result + "…"
  }

  /// Pads a text with spaces to a number of columns.
  static func padded(_ text: String, to columns: Int, atRight: Bool = false) -> String {
    let spaces = String(repeating: " ", count: max(0, columns - width(text)))
    return atRight ? spaces + text : text + spaces
  }

  private static func width(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

/// Quotes words for a shell.
enum ShellText {
  /// Quotes a word if a shell would interpret it.
  static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || "-_./:=,@%+".utf8.contains(byte)
      }
    return isPlain ? word : "'" + Substring(word).parts("'").joined(separator: "'\\''") + "'"
  }
}
