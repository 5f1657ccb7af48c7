import PersistenceDriver

/// The text form of one rule.
extension MigrationMapping {
  static func action(_ text: String, _ whole: String) throws -> Action {
    if text == "drop" { return .drop }
    func argument(_ word: String) -> String? {
      text.utf8.starts(with: word.utf8) ? String(Substring(text.utf8.dropFirst(word.utf8.count))) : nil
    }
    if let name = argument("name:"), !name.isEmpty { return .rename(name) }
    if let value = argument("default:") { return .fill(value) }
    if let kind = argument("as:") { return try conversion(kind, whole) }
    throw PersistenceError.invalidRequest(
      "“\(whole)” is not a rule; the rules are drop, name:NEW, as:KIND, as:date(FORMAT) and default:VALUE")
  }

  private static func conversion(_ text: String, _ whole: String) throws -> Action {
    let word = String(text.prefix { $0 != "(" })
    guard let kind = FieldKind(rawValue: word) else {
      throw PersistenceError.invalidRequest(
        "“\(whole)”: “\(word)” is not a kind; the kinds are "
          + FieldKind.allCases.map(\.rawValue).joined(separator: ", "))
    }
    var rest = text.dropFirst(word.count)
    guard !rest.isEmpty else { return .convert(kind) }
    guard kind == .date, rest.hasSuffix(")"), rest.count > 2 else {
      throw PersistenceError.invalidRequest("“\(whole)”: only as:date(FORMAT) accepts parentheses")
    }
    rest = rest.dropFirst().dropLast()
    let forms = try rest.split(separator: "|", omittingEmptySubsequences: false).map { part -> DateFormat in
      let word = String(part)
      if let known = DateFormat.names.first(where: { $0.name == word }) { return known.format }
      guard DatePattern(word) != nil else {
        throw PersistenceError.invalidRequest(
          "“\(whole)”: “\(word)” is not a date format; the formats are "
            + DateFormat.names.map(\.name).joined(separator: ", ") + " and patterns with yyyy, MM and dd")
      }
      return .pattern(word)
    }
    return .convert(.date, dates: forms)
  }
}

extension MigrationMapping.Action: CustomStringConvertible {
  /// The rule in its text form.
  public var description: String {
    switch self {
    case .drop: "drop"
    case .rename(let name): "name:\(name)"
    case .convert(let kind, let dates):
      "as:\(kind.rawValue)" + (dates.isEmpty ? "" : "(" + dates.map(\.name).joined(separator: "|") + ")")
    case .fill(let value): "default:\(value)"
    }
  }
}
