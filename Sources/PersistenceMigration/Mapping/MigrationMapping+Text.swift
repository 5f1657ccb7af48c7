import PersistenceDriver

/// Mappings as people write them.
extension MigrationMapping {
  /// How rules are written, for help texts.
  public static let language = """
    A rule is written MODEL.FIELD=RULE; a name with a point, an equals sign or a quotation mark stands in double \
    quotation marks, doubled within: "my.model"."a=b"=drop. Rules: drop (the field is left out), name:NEW, \
    default:VALUE (what stands where the field is nil; it is no longer optional), as:KIND (\
    \(FieldKind.allCases.map(\.rawValue).joined(separator: ", "))), and as:date(FORM) for dates that stand in texts \
    or numbers, where FORM is iso8601, unix, unix-ms, unix-us, julian, 2001 (seconds since then) or a pattern such as \
    dd.MM.yyyy HH:mm:ss, and several forms stand with | between them. Several rules may be about one field.
    """

  /// Reads a mapping.
  ///
  /// - Parameters:
  ///   - renames: New names of models, each as `Old=New`.
  ///   - rules: Rules of fields, each as ``language`` says, such as `Movie.released=as:date(unix)`.
  /// - Returns: The mapping.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest``, naming the text that is wrong.
  public static func parse(renames: [String], rules: [String]) throws -> MigrationMapping {
    var mapping = MigrationMapping()
    for text in renames {
      var reader = RuleReader(text)
      guard let old = reader.name(until: "="), reader.take("=") else { throw malformed(text, "Old=New") }
      let new = reader.isQuoted ? reader.name(until: nil) ?? "" : reader.rest
      guard !new.isEmpty else { throw malformed(text, "Old=New") }
      guard mapping.modelNames.updateValue(new, forKey: old) == nil else {
        throw PersistenceError.invalidRequest("the model “\(old)” is renamed twice")
      }
    }
    for text in rules {
      var reader = RuleReader(text)
      guard let model = reader.name(until: "."), reader.take("."), let field = reader.name(until: "="),
        reader.take("=")
      else { throw malformed(text, "Model.field=RULE") }
      mapping.rules.append(Rule(model, field, try action(reader.rest, text)))
    }
    return mapping
  }

  private static func malformed(_ text: String, _ form: String) -> PersistenceError {
    PersistenceError.invalidRequest("“\(text)” is not of the form \(form)")
  }

  private static func action(_ text: String, _ whole: String) throws -> Action {
    if text == "drop" { return .drop }
    func argument(_ word: String) -> String? {
      text.utf8.starts(with: word.utf8) ? String(Substring(text.utf8.dropFirst(word.utf8.count))) : nil
    }
    if let name = argument("name:"), !name.isEmpty { return .rename(name) }
    if let value = argument("default:") { return .fill(value) }
    if let kind = argument("as:") { return try conversion(kind, whole) }
    throw PersistenceError.invalidRequest(
      "“\(whole)” names no rule; rules are drop, name:NEW, as:KIND, as:date(FORM) and default:VALUE")
  }

  private static func conversion(_ text: String, _ whole: String) throws -> Action {
    let word = String(text.prefix { $0 != "(" })
    guard let kind = FieldKind(rawValue: word) else {
      throw PersistenceError.invalidRequest(
        "“\(whole)”: “\(word)” is no kind; kinds are "
          + FieldKind.allCases.map(\.rawValue).joined(separator: ", "))
    }
    var rest = text.dropFirst(word.count)
    guard !rest.isEmpty else { return .convert(kind) }
    guard kind == .date, rest.hasSuffix(")"), rest.count > 2 else {
      throw PersistenceError.invalidRequest("“\(whole)”: only as:date(FORM) takes something in parentheses")
    }
    rest = rest.dropFirst().dropLast()
    let forms = try rest.split(separator: "|", omittingEmptySubsequences: false).map { part -> DateForm in
      let word = String(part)
      if let known = DateForm.words.first(where: { $0.word == word }) { return known.form }
      guard ISO8601Pattern(word) != nil else {
        throw PersistenceError.invalidRequest(
          "“\(whole)”: “\(word)” is no form of dates; forms are "
            + DateForm.words.map(\.word).joined(separator: ", ") + " and patterns with yyyy, MM and dd")
      }
      return .pattern(word)
    }
    return .convert(.date, dates: forms)
  }
}

extension MigrationMapping.Action: CustomStringConvertible {
  /// The rule as people write it.
  public var description: String {
    switch self {
    case .drop: "drop"
    case .rename(let name): "name:\(name)"
    case .convert(let kind, let dates):
      "as:\(kind.rawValue)" + (dates.isEmpty ? "" : "(" + dates.map(\.word).joined(separator: "|") + ")")
    case .fill(let value): "default:\(value)"
    }
  }
}

/// Reads the names in front of a rule, scalar by scalar: a mark is one also where a combining scalar follows it.
private struct RuleReader {
  private var text: Substring.UnicodeScalarView

  init(_ text: String) { self.text = text[...].unicodeScalars }

  var rest: String { String(text) }
  var isQuoted: Bool { text.first == "\"" }

  mutating func take(_ mark: Unicode.Scalar) -> Bool {
    guard text.first == mark else { return false }
    text.removeFirst()
    return true
  }

  /// A name, quoted or up to a mark; nil where there is none.
  mutating func name(until end: Unicode.Scalar?) -> String? {
    guard take("\"") else {
      let name = text.prefix { $0 != end }
      text = text.dropFirst(name.count)
      return name.isEmpty ? nil : String(name)
    }
    var name = String.UnicodeScalarView()
    while let scalar = text.popFirst() {
      if scalar == "\"", !take("\"") { return name.isEmpty ? nil : String(name) }
      name.append(scalar)
    }
    return nil
  }
}
