import PersistenceDriver

/// The text form of mappings, for command lines.
extension MigrationMapping {
  /// The syntax of rules, for help texts.
  package static let language = """
    The syntax of a rule is MODEL.FIELD=RULE. Enclose a name that contains a point, an equals sign or a quotation mark \
    in double quotation marks, and double those inside it: "my.model"."a=b"=drop. The rules: drop (omit the field), \
    name:NEW (rename it), default:VALUE (replace nil; the field becomes required), as:KIND (convert it to \
    \(FieldKind.allCases.map(\.rawValue).joined(separator: ", "))) and as:date(FORMAT) (convert text or numbers to \
    dates). FORMAT is iso8601, unix, unix-ms, unix-us, julian, 2001 (seconds since 2001) or a pattern such as \
    dd.MM.yyyy HH:mm:ss; separate alternatives with |. A field may have several rules.
    """

  /// Parses a mapping: names of models as `Old=New`, and rules of fields as in `Movie.released=as:date(unix)`.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` that names the invalid text.
  package static func parse(renames: [String], rules: [String]) throws -> MigrationMapping {
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
    PersistenceError.invalidRequest("“\(text)” does not have the form \(form)")
  }
}

/// Parses the names before a rule, scalar by scalar, because a combining scalar may follow a delimiter.
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

  /// Parses a name, quoted or up to a delimiter; nil if there is none.
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
