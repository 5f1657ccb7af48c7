/// A piece of a condition, and where it stands.
struct WhereToken: Equatable {
  /// What a piece is.
  enum Kind: Equatable {
    /// A bare word: a name, a keyword or a function.
    case word(String)
    /// A name in double quotes.
    case name(String)
    /// A text in single quotes.
    case text(String)
    /// A number, as it is spelled.
    case number(String)
    /// Bytes, from `x'…'`.
    case bytes([UInt8])
    /// An operator or a mark.
    case symbol(String)
    /// The end of the condition.
    case end
  }

  /// What it is.
  let kind: Kind
  /// How many scalars stand before it.
  let position: Int

  /// Whether it is this keyword, in whatever case.
  func isKeyword(_ keyword: String) -> Bool {
    if case .word(let word) = kind { word.lowercased() == keyword } else { false }
  }

  /// Whether it is this operator or mark.
  func isSymbol(_ symbol: String) -> Bool { kind == .symbol(symbol) }
}
