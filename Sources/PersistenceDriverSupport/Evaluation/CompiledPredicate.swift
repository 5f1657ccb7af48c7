import PersistenceDriver

/// A predicate made ready for one schema: the one evaluator of conditions (contract V3 to V7).
///
/// It reads borrowed cells and allocates nothing but what folding case takes. Contexts use it for whatever they
/// do not evaluate natively.
public struct CompiledPredicate: Sendable {
  package let program: PredicateProgram

  /// The positions of the fields that the predicate reads: the only cells that a row must have filled.
  public let positions: [Int]

  /// Prepares a predicate.
  ///
  /// - Parameters:
  ///   - node: A predicate as ``FetchRequest`` holds it; nil is true for every row.
  ///   - schema: The schema whose positions rows have.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` or
  ///   ``PersistenceError/Code/invalidRequest``.
  public init(_ node: PredicateNode?, in schema: ModelSchema) throws {
    let node = node ?? .constant(true)
    positions = node.fields.compactMap { schema.position(of: $0) }.sorted()
    program = try PredicateProgram(node, in: schema, positions: positions)
  }

  /// Whether a row fits.
  ///
  /// - Parameter row: A row of the schema, with at least the cells at ``positions`` filled.
  /// - Returns: Whether it fits.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/patternTooSlow`` where a regular
  ///   expression took more steps than it may.
  public func matches(_ row: borrowing Row) throws -> Bool { try program.matches(row) }
}
