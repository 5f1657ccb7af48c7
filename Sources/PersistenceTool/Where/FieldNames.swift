import PersistenceDriver

/// Names of fields as a user types them.
enum FieldNames {
  /// What to say where a name is no field: the one that was meant, if it is plain, and the known ones.
  static func unknown(_ name: String, in schema: ModelSchema) -> String {
    let alike = schema.fields.filter { $0.name.lowercased() == name.lowercased() }
    let hint = alike.count == 1 ? "; did you mean \(quoted(alike[0].name))?" : ""
    return "\(schema.name) has no field “\(name)”\(hint); its fields are "
      + schema.fields.map { quoted($0.name) }.joined(separator: ", ")
  }

  /// A name as it is written in a condition.
  static func quoted(_ name: String) -> String {
    let isBare =
      name.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || $0.value < 58)
      }
      && name.unicodeScalars.first.map { $0.properties.isAlphabetic || $0 == "_" } ?? false
    let hasOthers = name.unicodeScalars.contains { $0.value < 48 }
    return isBare && !hasOthers ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  /// The parts of a list with commas, of which those that hold commas stand in double quotes.
  ///
  /// - Parameters:
  ///   - text: Such as `title,-"Production Budget"`.
  ///   - what: What the list is, for the message.
  /// - Returns: The names, each with whether a `-` stood before it.
  /// - Throws: ``ToolFailure`` where a name is empty or a quotation mark is missing.
  static func list(_ text: String, _ what: String) throws -> [(name: String, isDescending: Bool)] {
    var parts: [(String, Bool)] = []
    var rest = Substring(text)
    while true {
      rest = rest.drop { $0 == " " }
      let isDescending = rest.first == "-"
      if isDescending { rest.removeFirst() }
      var name = ""
      if rest.first == "\"" {
        rest.removeFirst()
        var isClosed = false
        while let character = rest.popFirst() {
          if character == "\"" {
            guard rest.first == "\"" else {
              isClosed = true
              break
            }
            rest.removeFirst()
          }
          name.append(character)
        }
        guard isClosed else { throw ToolFailure.usage("\(what): a quotation mark is missing in \(text)") }
        rest = rest.drop { $0 == " " }
        guard rest.isEmpty || rest.first == "," else {
          throw ToolFailure.usage("\(what): a comma is missing after \"\(name)\"")
        }
      } else {
        let end = rest.firstIndex(of: ",") ?? rest.endIndex
        name = String(rest[..<end])
        while name.last == " " { name.removeLast() }
        rest = rest[end...]
        guard !name.isEmpty else { throw ToolFailure.usage("\(what): a name is missing in “\(text)”") }
      }
      parts.append((name, isDescending))
      guard rest.popFirst() != nil else { return parts }
    }
  }
}
