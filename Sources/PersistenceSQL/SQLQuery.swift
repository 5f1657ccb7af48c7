package import PersistenceDriver
package import PersistenceDriverSupport

/// A lowered request, which makes the statements that answer it.
package struct SQLQuery: Sendable {
  package let predicate: LoweredPredicate

  /// The request's total order.
  package let order: SQLOrder

  private let model: UInt32

  /// Whether the request's statements are neither taken from a cache nor kept.
  private let isPlannedAnew: Bool

  /// Lowers a request for SQLite, in an order that is already known; without the anchor, the caller seeks to it.
  package init(_ request: FetchRequest, includingAnchor: Bool, order: SQLOrder? = nil, model: UInt32) throws {
    let predicate = includingAnchor ? request.predicateWithAnchor : request.predicate
    self.init(
      try LoweredPredicate(predicate, in: request.schema, SQLiteDialect()),
      order: try order ?? SQLOrder(request.totalOrder, in: request.schema), model: model,
      isPlannedAnew: request.isPlannedAnew)
  }

  /// A query with a condition that is already lowered.
  package init(_ predicate: LoweredPredicate, order: SQLOrder, model: UInt32, isPlannedAnew: Bool = false) {
    self.model = model
    self.predicate = predicate
    self.order = order
    self.isPlannedAnew = isPlannedAnew
  }

  /// A statement that yields rows, sort keys or row IDs in order, or changes such rows.
  ///
  /// No items mean all fields, and `seek` is one of ``seeks(after:in:)``. The last parameters are the limit, if there
  /// is a limit or an offset, and the offset if it is not 0.
  package func select(
    _ kind: StatementKey.Kind, _ items: [SQLItem] = [], after seek: LoweredPredicate? = nil, limit: Int?,
    offset: Int = 0
  ) -> SQLStatement {
    statement(kind, items, order: order.words, after: seek, limit: limit, offset: offset)
  }

  /// A statement that yields fields of all rows that match the condition, in any order.
  package func unordered(_ items: [SQLItem]) -> SQLStatement {
    statement(.rows, items, order: [])
  }

  /// A statement that counts rows, and stops at a limit if there is one.
  package func count(upTo limit: Int?) -> SQLStatement {
    statement(limit == nil ? .count : .countUpTo, order: [], limit: limit)
  }

  /// A statement that deletes the rows that match the condition, or a page of them.
  package func delete(limit: Int?, offset: Int) -> SQLStatement {
    isPage(limit, offset)
      ? statement(.deletePage, order: order.words, limit: limit, offset: offset)
      : statement(.delete, order: [])
  }

  /// A statement that sets fields of the rows that match the condition, or of a page of them.
  package func set(_ values: [(position: Int, value: PersistentValue)], limit: Int?, offset: Int)
    -> SQLStatement
  {
    let items = values.map { SQLItem(.field, $0.position) }
    let values = values.map { $0.value }
    return isPage(limit, offset)
      ? statement(.setPage, items, order: order.words, limit: limit, offset: offset, values: values)
      : statement(.set, items, order: [], values: values)
  }

  /// A statement that computes aggregates over the rows that match the condition, or over a page of them.
  ///
  /// It groups and orders by the fields among the items; without fields it yields one row.
  package func aggregates(_ items: [SQLItem], limit: Int?, offset: Int) -> SQLStatement {
    isPage(limit, offset)
      ? statement(.aggregatesOfPage, items, order: order.words, limit: limit, offset: offset)
      : statement(.aggregates, items, order: [])
  }

  private func isPage(_ limit: Int?, _ offset: Int) -> Bool { limit != nil || offset > 0 }

  private func statement(
    _ kind: StatementKey.Kind, _ items: [SQLItem] = [], order: [UInt64], after seek: LoweredPredicate? = nil,
    limit: Int? = nil, offset: Int = 0, values: [PersistentValue] = []
  ) -> SQLStatement {
    // SQL needs a limit before an offset; −1 means no limit.
    SQLStatement(
      kind, model: model, order: order, items: items, values: values, predicate: predicate, seek: seek,
      limit: isPage(limit, offset) ? limit.map(Int64.init) ?? -1 : nil,
      offset: offset > 0 ? Int64(offset) : nil, isPlannedAnew: isPlannedAnew)
  }

  /// The conditions that find the rows after a position in order, each by one seek, in the order of their rows.
  ///
  /// The first one matches rows that differ from the position in the last criterion only. One disjunction would be a
  /// scan, and of a row value SQLite seeks by the first column only.
  package func seeks(after values: [PersistentValue], in table: SQLTable) -> [LoweredPredicate] {
    var seeks: [LoweredPredicate] = []
    for last in order.rows.criteria.indices.reversed() where last < values.count {
      var opcodes: [PredicateOpcode] = []
      var bindings: [SQLBinding] = []
      for (criterion, value) in zip(order.rows.criteria[..<last], values) {
        opcodes.append(PredicateOpcode(value.isNull ? .isNull : .equal, criterion.position))
        if !value.isNull { bindings.append(.value(value)) }
      }
      let (criterion, value) = (order.rows.criteria[last], values[last])
      func add(_ operation: PredicateOpcode.Operation, _ operands: [SQLBinding] = []) {
        seeks.append(
          LoweredPredicate(
            all: opcodes + [PredicateOpcode(operation, criterion.position)], bindings: bindings + operands))
      }
      switch (value.isNull, criterion.isDescending) {
      case (true, false): add(.isNotNull)
      case (true, true): break
      case (false, let isDescending):
        add(isDescending ? .less : .greater, [.value(value)])
        if isDescending, table.columns[criterion.position].isOptional { add(.isNull) }
      }
    }
    return seeks
  }
}

/// The binding of a statement's parameter: user data never becomes part of the text.
package enum SQLBinding: Sendable {
  /// A value, in its column's format.
  case value(PersistentValue)
  /// A limit or an offset; −1 for no limit.
  case count(Int64)
  /// The values of a membership test, as one parameter.
  case list([PersistentValue])
  /// An argument of the function that searches text.
  case search(TextMatcher)
  /// An argument of the function that evaluates a condition over the fields at these positions.
  case condition(CompiledPredicate, positions: [Int])
}

extension SQLBinding: CustomStringConvertible {
  /// The value as predicates print it; the kind of other bindings.
  package var description: String {
    switch self {
    case .value(let value): "\(value)"
    case .count(let count): "\(count)"
    case .list(let values): "[" + values.map { "\($0)" }.joined(separator: ", ") + "]"
    case .search: "search"
    case .condition(_, let positions): "condition over \(positions)"
    }
  }
}

/// A total order, with its fields looked up in one declaration: what requests of one order share.
package final class SQLOrder: Sendable {
  /// The criteria as requests name them.
  package let criteria: [FieldOrder]

  /// The order, by field position.
  package let rows: RowOrder

  /// The positions of the fields.
  package let positions: [Int]

  /// The criteria as words of a statement key.
  let words: [UInt64]

  /// Looks up the fields of criteria, such as ``FetchRequest/totalOrder``.
  package init(_ criteria: [FieldOrder], in schema: ModelSchema) throws {
    self.criteria = criteria
    rows = try RowOrder(criteria, in: schema)
    positions = rows.criteria.map { $0.position }
    words = rows.criteria.map { UInt64($0.position) << 1 | ($0.isDescending ? 1 : 0) }
  }
}
