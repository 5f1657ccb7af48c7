import PersistenceDriver
import PersistencePrimitives

/// Splits a condition into tokens.
struct WhereLexer {
  /// The maximum length of a condition in bytes.
  static let lengthLimit = 1 << 20

  private let scalars: [UnicodeScalar]
  private var position = 0

  private init(_ text: String) { scalars = Array(text.unicodeScalars) }

  /// The tokens of a condition; the last one is `end`.
  static func tokens(of text: String) throws -> [WhereToken] {
    guard text.utf8.count <= lengthLimit else {
      throw WhereError(message: "the condition is longer than \(lengthLimit) bytes", position: 0)
    }
    var lexer = WhereLexer(text)
    var tokens: [WhereToken] = []
    while true {
      let token = try lexer.next()
      tokens.append(token)
      if token.kind == .end { return tokens }
    }
  }

  private func scalar(_ ahead: Int = 0) -> UnicodeScalar? {
    position + ahead < scalars.count ? scalars[position + ahead] : nil
  }

  private mutating func next() throws -> WhereToken {
    while let scalar = scalar(), scalar.properties.isWhitespace { position += 1 }
    let start = position
    return WhereToken(kind: try kind(), position: start)
  }

  private mutating func kind() throws -> WhereToken.Kind {
    guard let first = scalar() else { return .end }
    switch first {
    case "'": return .text(try quoted(by: "'", "the text"))
    case "\"": return .name(try quoted(by: "\"", "the name"))
    case "x" where scalar(1) == "'", "X" where scalar(1) == "'":
      position += 1
      return .bytes(try bytes())
    case "0"..."9": return .number(try number())
    case "-" where isDigit(scalar(1)) || scalar(1) == ".", "+" where isDigit(scalar(1)) || scalar(1) == ".",
      "." where isDigit(scalar(1)):
      return .number(try number())
    default: break
    }
    if Self.startsWord(first) { return .word(word()) }
    for symbol in ["<=", ">=", "<>", "!=", "==", "=", "<", ">", "(", ")", ","]
    where Array(symbol.unicodeScalars).elementsEqual(scalars[position...].prefix(symbol.unicodeScalars.count))
    {
      position += symbol.unicodeScalars.count
      return .symbol(symbol)
    }
    throw WhereError(message: Self.complaint(about: first), position: position)
  }

  private static func complaint(about scalar: UnicodeScalar) -> String {
    switch scalar {
    case "‘", "’", "“", "”", "„", "`":
      "“\(scalar)” is not a quotation mark here; enclose text in '…' and names with spaces in \"…\""
    case "&", "|", "!": "“\(scalar)” is not understood; write and, or, not"
    default: "“\(scalar.properties.isWhitespace ? " " : String(scalar))” is not understood"
    }
  }

  private static func startsWord(_ scalar: UnicodeScalar) -> Bool {
    scalar == "_" || scalar.properties.isAlphabetic
  }

  private func isDigit(_ scalar: UnicodeScalar?) -> Bool {
    guard let scalar else { return false }
    return ("0"..."9").contains(scalar)
  }

  private mutating func word() -> String {
    var word = String.UnicodeScalarView()
    while let scalar = scalar(),
      Self.startsWord(scalar) || isDigit(scalar) || scalar == "." || scalar == "$"
        || scalar.properties.generalCategory == .nonspacingMark
    {
      word.append(scalar)
      position += 1
    }
    return String(word)
  }

  /// Reads a quoted text; a doubled quotation mark stands for one.
  private mutating func quoted(by mark: UnicodeScalar, _ what: String) throws -> String {
    let start = position
    position += 1
    var text = String.UnicodeScalarView()
    while let scalar = scalar() {
      position += 1
      if scalar == mark {
        guard self.scalar() == mark else { return String(text) }
        position += 1
      }
      text.append(scalar)
    }
    throw WhereError(message: "\(what) that starts here has no closing \(mark)", position: start)
  }

  private mutating func bytes() throws -> [UInt8] {
    let start = position - 1
    let digits = Array(try quoted(by: "'", "the bytes").utf8)
    guard digits.count.isMultiple(of: 2) else {
      throw WhereError(
        message: "bytes need two hexadecimal digits each, for example x'00ff'", position: start)
    }
    return try stride(from: 0, to: digits.count, by: 2).map { index in
      let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
      guard pair.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
        let byte = UInt8(pair, radix: 16)
      else {
        throw WhereError(message: "“\(pair)” is not a pair of hexadecimal digits", position: start)
      }
      return byte
    }
  }

  private mutating func number() throws -> String {
    let start = position
    var text = String.UnicodeScalarView()
    while let scalar = scalar() {
      let follows = text.last.map { $0 == "e" || $0 == "E" } ?? true
      let isSign = (scalar == "-" || scalar == "+") && follows
      guard isDigit(scalar) || scalar == "." || scalar == "_" || isSign || Self.startsWord(scalar) else {
        break
      }
      text.append(scalar)
      position += 1
    }
    let number = String(text)
    guard ExactNumber(number) != nil else {
      throw WhereError(message: "“\(number)” is not a number", position: start)
    }
    return number
  }
}

/// A token of a condition, with its position.
struct WhereToken: Equatable {
  enum Kind: Equatable {
    /// A bare word: a name, a keyword or a function.
    case word(String)
    /// A name in double quotes.
    case name(String)
    case text(String)
    case number(String)
    /// Bytes, from `x'…'`.
    case bytes([UInt8])
    /// An operator or punctuation.
    case symbol(String)
    case end
  }

  let kind: Kind
  /// The number of preceding scalars.
  let position: Int

  /// Whether the token is this keyword, ignoring case.
  func isKeyword(_ keyword: String) -> Bool {
    if case .word(let word) = kind { word.lowercased() == keyword } else { false }
  }

  /// Whether the token is this operator or punctuation.
  func isSymbol(_ symbol: String) -> Bool { kind == .symbol(symbol) }
}
