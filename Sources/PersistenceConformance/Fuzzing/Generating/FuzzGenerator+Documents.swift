import PersistenceCore

extension FuzzGenerator {
  private static let paths: [[String]] = [
    [], [], ["a"], ["a"], ["b"], ["n"], ["a", "b"], ["a", "b"], ["a", "c"], ["A"], [""],
  ]

  private static let operands = [
    "null", "true", "false", "0", "1", "1.0", "10e-1", "1.5", "2", "10", "-1", "9007199254740993",
    "9007199254740992", "12345678901234567", "\"\"", "\"a\"", "\"A\"", "\"b\"", "\"NaN\"", "\"Infinity\"",
    "\"-Infinity\"", "\"\u{E9}\"", "\"e\u{301}\"", "[]", "[1]", "[1,2]", "[1.0,2]", "{}", "{\"b\":1}",
    "{\"b\":1.0}", "{\"a\":1}",
  ]
  /// Elements of the arrays that the values contain.
  private static let elements = ["1", "2", "1.0"]

  /// What many of the values contain at the paths.
  private static let members = ["1", "1.5", "2", "\"a\"", "\"NaN\""]

  /// A condition on a part of a document (contract V8).
  mutating func part(of field: String) -> PredicateNode {
    var path = random.pick(Self.paths)
    switch random.int(0...9) {
    case 0, 1, 2:
      // Few values contain arrays elsewhere.
      if chance(60) { path = [] }
      let element = random.pick(path.isEmpty && chance(80) ? Self.elements : Self.operands)
      return .document(field: field, path: path, .contains(.document(element)))
    case 3:
      let search = random.pick([TextOperator.contains, .hasPrefix, .hasSuffix, .like])
      return .document(
        field: field, path: path,
        .text(search, random.pick(["", "a", "A", "%", "\u{E9}", "In"]), isCaseInsensitive: chance(30)))
    default:
      let operands = chance(50) ? Self.members : Self.operands
      let operand: PersistentValue = chance(12) ? .null : .document(random.pick(operands))
      let comparison = random.pick(ComparisonOperator.allCases)
      return .document(field: field, path: path, .comparison(comparison, operand))
    }
  }
}
