import PersistenceDriver

extension AccessPlan: CustomStringConvertible {
  /// The plan as text, with its values: for people, tests and debug logs.
  package var description: String {
    if ranges.isEmpty { return "nothing" }
    var text: String
    switch path {
    case .scan: text = "scan"
    case .primaryKey: text = "key \(whereabouts)"
    case .index: text = "index \(whereabouts)"
    }
    if let anchor { text += " after (\(anchor.map { "\($0)" }.joined(separator: ", ")))" }
    for other in intersected { text += " and index \(other.whereabouts)" }
    if isReversed { text += " backwards" }
    text += isOrdered ? "; in order" : "; sorted"
    if let residual { text += "; residual \(residual)" }
    return text
  }

  private var whereabouts: String {
    let fields = path == .primaryKey ? components : Array(components.prefix(indexedComponents))
    let words = ranges.map { self.words($0) }.filter { !$0.isEmpty }
    return "(\(fields.joined(separator: ", ")))"
      + (words.isEmpty ? "" : " [\(words.joined(separator: " | "))]")
  }

  /// What a range says, as text.
  func words(_ range: Range, value: (PersistentValue) -> String = { "\($0)" }) -> String {
    var words = zip(components, range.equals).map { "\($0) == \(value($1))" }
    let field = range.equals.count < components.count ? components[range.equals.count] : ""
    switch range.next {
    case .all: break
    case .prefix(let prefix): words.append("\(field) begins with \(value(.text(prefix)))")
    case .bounds(let lower, let upper):
      if let lower {
        let operand = lower.value.isNull ? "nil" : value(lower.value)
        words.append("\(field) \(lower.isInclusive ? ">=" : ">") \(operand)")
      }
      if let upper { words.append("\(field) \(upper.isInclusive ? "<=" : "<") \(value(upper.value))") }
    }
    return words.joined(separator: ", ")
  }
}
