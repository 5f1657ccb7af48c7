/// The properties that a key path goes through, as its description names them.
///
/// A property that is computed or has observers, a subscript and a method have no name there, only an address, which
/// differs between modules and is left out: `<computed Int>`.
struct KeyPathComponents {
  let names: [String]

  init(_ keyPath: AnyKeyPath) {
    let root = "\\\(type(of: keyPath).rootType)"
    let text = "\(keyPath)"
    names = text.hasPrefix(root) ? Self.split(text.dropFirst(root.count)).map(Self.name) : [text]
  }

  /// The names behind those of a stored property through which the key path goes; nil if it does not.
  func names(behind property: KeyPathComponents) -> [String]? {
    let count = property.names.count
    guard names.count > count, names.starts(with: property.names),
      !property.names.contains(where: Self.isComputed)
    else { return nil }
    return Array(names.dropFirst(count))
  }

  /// Whether the component is not a stored property.
  static func isComputed(_ name: String) -> Bool { name.hasPrefix("<") }

  /// The names with dots between them.
  var text: String { names.joined(separator: ".") }

  private static func split(_ text: Substring) -> [Substring] {
    var components: [Substring] = []
    var rest = text
    while let first = rest.first {
      guard first != ".", first != "?", first != "!" else {
        rest.removeFirst()
        continue
      }
      let end = first == "<" ? endOfComputed(rest) : rest.firstIndex { ".?!".contains($0) } ?? rest.endIndex
      components.append(rest[..<end])
      rest = rest[end...]
    }
    return components
  }

  /// The end of a component with an address, behind the type in parentheses.
  private static func endOfComputed(_ text: Substring) -> Substring.Index {
    var depth = 0
    let last = text.firstIndex { character in
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      return character == ">" && depth == 0
    }
    return last.map { text.index(after: $0) } ?? text.endIndex
  }

  private static func name(_ component: Substring) -> String {
    guard isComputed(String(component)), let start = component.firstIndex(of: "("),
      let end = component.lastIndex(of: ")")
    else { return String(component) }
    return "<computed \(component[component.index(after: start)..<end])>"
  }
}
