/// A predicate made ready for one schema: the one evaluator of conditions (contract V3 to V7).
///
/// It reads borrowed cells and allocates nothing but what folding case takes. Contexts use it for whatever they
/// do not evaluate natively.
public struct CompiledPredicate: Sendable {
  indirect enum Step: Sendable {
    case constant(Bool)
    case comparison(Int, ComparisonOperator, Constant)
    case fieldComparison(Int, ComparisonOperator, Int)
    case isIn(Int, [Constant])
    case isBetween(Int, Constant, Constant)
    case text(Int, TextMatcher)
    case all([Step])
    case any([Step])
    case not(Step)
  }

  let step: Step

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
    step = try Self.compile(node, in: schema)
    positions = node.fields.compactMap { schema.position(of: $0) }.sorted()
  }

  /// Whether a row fits.
  ///
  /// - Parameter row: A row of the schema, with at least the cells at ``positions`` filled.
  /// - Returns: Whether it fits.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/patternTooSlow`` where a regular
  ///   expression took more steps than it may.
  public func matches(_ row: borrowing Row) throws -> Bool {
    try Self.evaluate(step, row)
  }

  private static func compile(_ node: PredicateNode, in schema: ModelSchema) throws -> Step {
    func position(_ field: String) throws -> Int {
      guard let position = schema.position(of: field) else {
        throw PersistenceError.unknownField(field, in: schema)
      }
      return position
    }
    switch node {
    case .constant(let truth): return .constant(truth)
    case .comparison(let field, let comparison, let value):
      return .comparison(try position(field), comparison, Constant(value))
    case .fieldComparison(let left, let comparison, let right):
      return .fieldComparison(try position(left), comparison, try position(right))
    case .isIn(let field, let values):
      // Sorted, so that a long list is searched in halves.
      return .isIn(try position(field), values.filter { !$0.isNull }.sorted().map(Constant.init))
    case .isBetween(let field, let lower, let upper):
      return .isBetween(try position(field), Constant(lower), Constant(upper))
    case .text(let field, let search, let needle, let isCaseInsensitive):
      return .text(
        try position(field), try TextMatcher(search, needle, isCaseInsensitive: isCaseInsensitive))
    case .all(let nodes): return .all(try nodes.map { try compile($0, in: schema) })
    case .any(let nodes): return .any(try nodes.map { try compile($0, in: schema) })
    case .not(let node): return .not(try compile(node, in: schema))
    }
  }

  private static func evaluate(_ step: Step, _ row: borrowing Row) throws -> Bool {
    switch step {
    case .constant(let truth): return truth
    case .comparison(let position, let comparison, let constant):
      let (left, right) = (row[position], constant.cell)
      return comparison.holds(
        leftIsNull: left.isNull, rightIsNull: right.isNull, order: RowCell.compare(left, right))
    case .fieldComparison(let first, let comparison, let second):
      let (left, right) = (row[first], row[second])
      return comparison.holds(
        leftIsNull: left.isNull, rightIsNull: right.isNull, order: RowCell.compare(left, right))
    case .isIn(let position, let constants):
      let cell = row[position]
      return !cell.isNull && contains(constants, cell)
    case .isBetween(let position, let lower, let upper):
      let cell = row[position]
      guard !cell.isNull, !lower.cell.isNull, !upper.cell.isNull else { return false }
      return RowCell.compare(lower.cell, cell) <= 0 && RowCell.compare(cell, upper.cell) <= 0
    case .text(let position, let matcher):
      let cell = row[position]
      return try !cell.isNull && matcher.matches(cell.borrowedText)
    case .all(let steps):
      for step in steps where try !evaluate(step, row) { return false }
      return true
    case .any(let steps):
      for step in steps where try evaluate(step, row) { return true }
      return false
    case .not(let step): return try !evaluate(step, row)
    }
  }

  private static func contains(_ sorted: [Constant], _ cell: RowCell) -> Bool {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      let order = RowCell.compare(sorted[middle].cell, cell)
      if order == 0 { return true }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }
}

extension CompiledPredicate {
  /// A value of the predicate as a cell whose bytes it owns.
  final class Constant: @unchecked Sendable {  // immutable after init: the buffer is never touched again
    private let buffer = RowBuffer(count: 1)
    let cell: RowCell

    init(_ value: PersistentValue) {
      buffer.set(value, at: 0)
      cell = buffer.withRow { $0[0] }
    }
  }
}
