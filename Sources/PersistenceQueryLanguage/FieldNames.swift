package import PersistenceDriver

/// Field names as users type them.
package enum FieldNames {
  /// The message for an unknown field: a suggestion, if there is one, and the known fields.
  package static func unknown(_ name: String, in schema: ModelSchema) -> String {
    let alike = schema.fields.filter { $0.name.lowercased() == name.lowercased() }
    let hint = alike.count == 1 ? "; did you mean \(quoted(alike[0].name))?" : ""
    return "\(schema.name) has no field “\(name)”\(hint); its fields are "
      + schema.fields.map { quoted($0.name) }.joined(separator: ", ")
  }

  /// A name, quoted if a condition requires it.
  package static func quoted(_ name: String) -> String {
    let isBare =
      name.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || $0.value < 58)
      }
      && name.unicodeScalars.first.map { $0.properties.isAlphabetic || $0 == "_" } ?? false
    let hasOthers = name.unicodeScalars.contains { $0.value < 48 }
    return isBare && !hasOthers ? name : "\"" + name.doubling("\"") + "\""
  }

  /// The most names of a list: clients send texts of any length.
  package static let countLimit = 10_000

  /// Parses a comma-separated list of names, for example `title,-"Production Budget"`; `-` means descending.
  ///
  /// - Throws: ``FieldListError`` if a name is empty, a quotation mark is missing, or there are more names than
  ///   ``countLimit``.
  package static func list(_ text: String) throws -> [(name: String, isDescending: Bool)] {
    var parts: [(String, Bool)] = []
    // By scalars, because a combining scalar may follow a comma or quotation mark.
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
        guard isClosed else { throw FieldListError(message: "a quotation mark is missing in \(text)") }
        rest = rest.drop { $0 == " " }
        guard rest.isEmpty || rest.first == "," else {
          throw FieldListError(message: "a comma is missing after \"\(String(name))\"")
        }
      } else {
        let end = rest.firstIndex(of: ",") ?? rest.endIndex
        name.append(contentsOf: rest[..<end])
        while name.last == " " { name.removeLast() }
        rest = rest[end...]
        guard !name.isEmpty else { throw FieldListError(message: "a name is missing in “\(text)”") }
      }
      guard parts.count < countLimit else {
        throw FieldListError(message: "the list has more than \(countLimit) names")
      }
      parts.append((String(name), isDescending))
      guard rest.popFirst() != nil else { return parts }
    }
  }
}

/// An error in a list of names.
package struct FieldListError: Error {
  package let message: String
}
