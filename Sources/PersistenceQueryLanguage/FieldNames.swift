package import PersistenceDriver

/// Names of fields as a user types them.
package enum FieldNames {
  /// What to say where a name is no field: the one that was meant, if it is plain, and the known ones.
  package static func unknown(_ name: String, in schema: ModelSchema) -> String {
    let alike = schema.fields.filter { $0.name.lowercased() == name.lowercased() }
    let hint = alike.count == 1 ? "; did you mean \(quoted(alike[0].name))?" : ""
    return "\(schema.name) has no field “\(name)”\(hint); its fields are "
      + schema.fields.map { quoted($0.name) }.joined(separator: ", ")
  }

  /// A name as it is written in a condition.
  package static func quoted(_ name: String) -> String {
    let isBare =
      name.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || $0.value < 58)
      }
      && name.unicodeScalars.first.map { $0.properties.isAlphabetic || $0 == "_" } ?? false
    let hasOthers = name.unicodeScalars.contains { $0.value < 48 }
    return isBare && !hasOthers ? name : "\"" + name.doubling("\"") + "\""
  }

  /// The parts of a list with commas, of which those that hold commas stand in double quotes.
  ///
  /// - Parameter text: Such as `title,-"Production Budget"`.
  /// - Returns: The names, each with whether a `-` stood before it.
  /// - Throws: ``FieldListError`` where a name is empty or a quotation mark is missing.
  package static func list(_ text: String) throws -> [(name: String, isDescending: Bool)] {
    var parts: [(String, Bool)] = []
    // Scalars: a comma or quotation mark is one also where a combining scalar follows it.
    var rest = Substring(text).unicodeScalars
    while true {
      rest = rest.drop { $0 == " " }
      let isDescending = rest.first == "-"
      if isDescending { rest.removeFirst() }
      var name = String.UnicodeScalarView()
      if rest.first == "\"" {
        rest.removeFirst()
        var isClosed = false
        while let scalar = rest.popFirst() {
          if scalar == "\"" {
            guard rest.first == "\"" else {
              isClosed = true
              break
            }
            rest.removeFirst()
          }
          name.append(scalar)
        }
        guard isClosed else { throw FieldListError("a quotation mark is missing in \(text)") }
        rest = rest.drop { $0 == " " }
        guard rest.isEmpty || rest.first == "," else {
          throw FieldListError("a comma is missing after \"\(String(name))\"")
        }
      } else {
        let end = rest.firstIndex(of: ",") ?? rest.endIndex
        name.append(contentsOf: rest[..<end])
        while name.last == " " { name.removeLast() }
        rest = rest[end...]
        guard !name.isEmpty else { throw FieldListError("a name is missing in “\(text)”") }
      }
      parts.append((String(name), isDescending))
      guard rest.popFirst() != nil else { return parts }
    }
  }
}

/// What is wrong with a list of names.
package struct FieldListError: Error {
  /// What is wrong.
  package let message: String

  init(_ message: String) { self.message = message }
}
