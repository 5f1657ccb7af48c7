package import PersistenceDriver

/// A condition lowered to opcodes, apart from the values that its parameters are bound to.
///
/// The opcodes alone determine the SQL text, so conditions that differ only in values share a prepared statement.
package struct LoweredPredicate: Sendable {
  /// The opcodes in prefix notation; a single ``PredicateOpcode/Operation/always`` where there is no condition.
  package let opcodes: [PredicateOpcode]

  /// The values of the parameters, in the order of the opcodes.
  package let bindings: [SQLBinding]

  /// The deepest nesting of parentheses in the text: SQLite's parser has a stack of 100 entries.
  static let nestingLimit = 12

  /// How many opcodes the text may have; the evaluator takes longer conditions.
  static let lengthLimit = 4_000

  /// How many fields the SQL function that calls the evaluator may take.
  static let fieldLimit = 100

  /// Lowers a condition; throws if it is too deep or too long for SQL, and reads too many fields for the evaluator.
  package init(_ predicate: PredicateNode?, in schema: ModelSchema, _ dialect: some SQLDialect) throws {
    var lowering = PredicateLowering(schema, dialect)
    if let predicate { try lowering.append(predicate) }
    opcodes = predicate == nil ? [PredicateOpcode(.always)] : lowering.opcodes
    bindings = lowering.bindings
  }

  /// The conjunction of conditions that are already lowered.
  init(all opcodes: [PredicateOpcode], bindings: [SQLBinding]) {
    self.opcodes = opcodes.count == 1 ? opcodes : [PredicateOpcode(.all, count: opcodes.count)] + opcodes
    self.bindings = bindings
  }

  /// Whether a part of the condition calls the evaluator.
  package var callsEvaluator: Bool { opcodes.contains { $0.operation == .evaluated } }

  /// Whether the condition is true for every row.
  package var isAlwaysTrue: Bool { opcodes.count == 1 && opcodes[0].operation == .always }
}
