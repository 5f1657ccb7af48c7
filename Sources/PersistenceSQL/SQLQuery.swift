package import PersistenceDriver
package import PersistenceDriverSupport

/// A statement to run: its shape, and what is bound to its parameters in their order.
package struct SQLStatement: Sendable {
  /// What decides the text.
  package let shape: StatementKey
  /// What is bound.
  package let bindings: [SQLBinding]

  package init(_ shape: StatementKey, _ bindings: [SQLBinding]) {
    self.shape = shape
    self.bindings = bindings
  }
}

/// A request, lowered once, from which the statements that answer it are made.
package struct SQLQuery: Sendable {
  /// The request's condition.
  package let predicate: LoweredPredicate

  /// The request's total order, by position.
  package let order: RowOrder

  private let model: UInt32
  private let schema: ModelSchema
  private let orderWords: [UInt64]

  /// Lowers a request.
  ///
  /// - Parameters:
  ///   - request: What was asked for.
  ///   - includingAnchor: Whether the request's anchor becomes a part of the condition; otherwise it is the
  ///     place that a caller begins after.
  ///   - model: The number of the model's table.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` where the condition is
  ///   beyond what can be evaluated.
  package init(_ request: FetchRequest, includingAnchor: Bool, model: UInt32) throws {
    schema = request.schema
    self.model = model
    predicate = try LoweredPredicate(
      includingAnchor ? request.predicateWithAnchor : request.predicate, in: request.schema)
    order = try RowOrder(request.totalOrder, in: request.schema)
    orderWords = order.criteria.map { UInt64($0.position) << 1 | ($0.isDescending ? 1 : 0) }
  }

  /// A statement that yields rows, sort keys or locators in order, or changes such rows.
  ///
  /// - Parameters:
  ///   - kind: Which of these.
  ///   - items: The fields that it yields or sets; none for all of them.
  ///   - place: The place after which they begin.
  ///   - limit: How many at most; nil for all.
  ///   - offset: How many are passed over.
  /// - Returns: The statement, whose last parameters are the limit, where there is one or an offset, and the
  ///   offset, where it is not 0.
  package func select(
    _ kind: StatementKey.Kind, _ items: [SQLItem] = [], after place: LoweredPredicate? = nil, limit: Int?,
    offset: Int = 0
  ) -> SQLStatement {
    statement(kind, items, order: orderWords, after: place, limit: limit, offset: offset, values: [])
  }

  /// A statement that yields fields of all rows of the condition, in any order.
  package func unordered(_ items: [SQLItem]) -> SQLStatement {
    statement(.rows, items, order: [], values: [])
  }

  /// A statement that counts rows, no further than a limit where one is given.
  package func count(upTo limit: Int?) -> SQLStatement {
    statement(limit == nil ? .count : .countUpTo, order: [], limit: limit, values: [])
  }

  /// A statement that deletes the rows of the condition, or of a page of them.
  package func delete(limit: Int?, offset: Int) -> SQLStatement {
    isPage(limit, offset)
      ? statement(.deleteChosen, order: orderWords, limit: limit, offset: offset, values: [])
      : statement(.delete, order: [], values: [])
  }

  /// A statement that sets fields of the rows of the condition, or of a page of them.
  ///
  /// - Parameters:
  ///   - values: The fields' positions, and what they are set to.
  ///   - limit: How many rows at most; nil for all.
  ///   - offset: How many are passed over.
  /// - Returns: The statement.
  package func set(_ values: [(position: Int, value: PersistentValue)], limit: Int?, offset: Int)
    -> SQLStatement
  {
    let items = values.map { SQLItem(.field, $0.position) }
    let bindings = values.map { SQLBinding.value($0.value) }
    return isPage(limit, offset)
      ? statement(.setChosen, items, order: orderWords, limit: limit, offset: offset, values: bindings)
      : statement(.set, items, order: [], values: bindings)
  }

  /// A statement that computes values over the rows of the condition, or of a page of them: a row for each group
  /// of equal fields among the items, in the order of these fields; one row where there are none.
  package func aggregates(_ items: [SQLItem], limit: Int?, offset: Int) -> SQLStatement {
    isPage(limit, offset)
      ? statement(.aggregatesOfChosen, items, order: orderWords, limit: limit, offset: offset, values: [])
      : statement(.aggregates, items, order: [], values: [])
  }

  private func isPage(_ limit: Int?, _ offset: Int) -> Bool { limit != nil || offset > 0 }

  private func statement(
    _ kind: StatementKey.Kind, _ items: [SQLItem] = [], order: [UInt64], after place: LoweredPredicate? = nil,
    limit: Int? = nil, offset: Int = 0, values: [SQLBinding]
  ) -> SQLStatement {
    var bindings = values
    bindings.reserveCapacity(
      values.count + predicate.bindings.count + (place?.bindings.count ?? 0) + 2)
    bindings += predicate.bindings
    if let place { bindings += place.bindings }
    var page: StatementKey.Page = []
    if isPage(limit, offset) {
      // An offset stands behind a limit only; −1 is none.
      page.insert(.limit)
      bindings.append(.count(limit.map(Int64.init) ?? -1))
    }
    if offset > 0 {
      page.insert(.offset)
      bindings.append(.count(Int64(offset)))
    }
    let shape = StatementKey(
      kind, model: model, page: page, order: order, items: items, predicate: predicate, place: place)
    return SQLStatement(shape, bindings)
  }

  /// The conditions, one after the other, under which the rows after a place are found in order by one seek
  /// each: those that differ from the place in the last criterion only come first.
  ///
  /// A single condition with alternatives would be answered by a scan: SQLite seeks by the first column of a
  /// row value only.
  ///
  /// - Parameter values: The values of a row's order, one for each criterion.
  /// - Returns: The conditions, in the order of the rows that they find.
  package func steps(after values: [PersistentValue]) -> [LoweredPredicate] {
    var steps: [LoweredPredicate] = []
    for last in order.criteria.indices.reversed() where last < values.count {
      var words: [PredicateOpcode] = []
      var bindings: [SQLBinding] = []
      for (criterion, value) in zip(order.criteria[..<last], values) {
        words.append(PredicateOpcode(value.isNull ? .isNull : .equal, criterion.position))
        if !value.isNull { bindings.append(.value(value)) }
      }
      let (criterion, value) = (order.criteria[last], values[last])
      let position = criterion.position
      switch (value.isNull, criterion.isDescending) {
      case (true, false):
        steps.append(
          LoweredPredicate(
            all: words + [PredicateOpcode(.isNotNull, position)], bindings: bindings, in: schema))
      case (true, true): break
      case (false, let isDescending):
        steps.append(
          LoweredPredicate(
            all: words + [PredicateOpcode(isDescending ? .less : .greater, position)],
            bindings: bindings + [.value(value)], in: schema))
        if isDescending, schema.fields[position].isOptional {
          steps.append(
            LoweredPredicate(
              all: words + [PredicateOpcode(.isNull, position)], bindings: bindings, in: schema))
        }
      }
    }
    return steps
  }
}
