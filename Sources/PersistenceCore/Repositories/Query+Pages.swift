public import PersistenceDriver

/// One page of a query's records, with the token of the next page.
public struct Page<Model: Sendable>: Sendable {
  /// The records.
  public let models: [Model]

  /// The token of the next page; nil if there was none when this page was read.
  public let next: PageToken?
}

extension Query {
  /// The query for the records strictly after the end of a page.
  ///
  /// - Parameter token: A token of the same query, whose limit and offset may differ.
  /// - Returns: The new query; it throws when it runs if the token belongs to another query or store.
  public func after(_ token: PageToken) -> Query { changed { $0.token = token } }

  /// The records up to the limit, with the token of the next page.
  ///
  /// ```swift
  /// var page = try query.limit(20).page()
  /// while let next = page.next { page = try query.limit(20).after(next).page() }
  /// ```
  ///
  /// - Returns: The page; all records if the query has no limit.
  /// - Throws: ``PersistenceError``.
  public func page() throws -> Page<Model> {
    // The query rejects a negative limit, and no page follows the greatest one.
    guard let limit = options.limit, (0..<Int.max).contains(limit) else {
      return Page(models: try result().checkedArray(), next: nil)
    }
    // One more record shows whether there is a next page.
    let more = self.limit(limit + 1)
    if options.sorting.contains(where: { $0.relation != nil }) { return try more.relatedPage(limit) }
    var models = try more.result().checkedArray()
    guard models.count > limit else { return Page(models: models, next: nil) }
    models.removeLast()
    return Page(models: models, next: try models.last.map(token(after:)))
  }

  /// The page of a related order, whose token is of the same moment.
  private func relatedPage(_ limit: Int) throws -> Page<Model> {
    let options = try RequestOptions.of(options)
    return try StorageAccess.with(context, for: options.model, relating: options.related) { access in
      let reader = try access.moment()
      let rows = try access.answerable(options, by: reader).fetch()
      let origin = RowOrigin(options.model.schema, location: access.root.location)
      var models = try origin.models(Model.self, rows, from: 0, limit: rows.count())
      guard models.count > limit else { return Page(models: models, next: nil) }
      models.removeLast()
      let next = try models.last.map {
        try access.token(after: RowBuffer(encoding: $0), in: options, reader)
      }
      return Page(models: models, next: next)
    }
  }

  /// The token of a record's position in this query's order.
  ///
  /// - Parameter model: The record, which need not be stored.
  /// - Returns: The token.
  /// - Throws: ``PersistenceError``.
  public func token(after model: Model) throws -> PageToken {
    let options = try RequestOptions.of(options)
    return try StorageAccess.with(context, for: options.model, relating: options.related) { access in
      try access.token(after: RowBuffer(encoding: model), in: options, access.moment())
    }
  }

  /// The plan of the query: which index it uses, what the engine evaluates, and how it sorts.
  ///
  /// - Returns: The plan.
  /// - Throws: ``PersistenceError``.
  public func explain() throws -> QueryPlan {
    let options = try RequestOptions.of(options)
    return try StorageAccess.with(context, for: options.model, relating: options.related) {
      try $0.plan(options)
    }
  }

  /// The plan of the query for selected properties.
  ///
  /// It also shows whether an index covers them, so that no record is read.
  ///
  /// - Parameter properties: Stored properties, as for ``select(_:fileID:line:)``.
  /// - Returns: The plan.
  /// - Throws: ``PersistenceError``.
  public func explain<each Value: PersistentValueConvertible & Sendable>(
    selecting properties: repeat KeyPath<Model, each Value>
  ) throws -> QueryPlan {
    let options = try RequestOptions.of(options)
    return try StorageAccess.with(context, for: options.model, relating: options.related) { access in
      var positions: [Int] = []
      for property in repeat each properties {
        positions.append(try options.model.schema.requiredPosition(of: Model.name(of: property)))
      }
      return try access.plan(options, selecting: positions)
    }
  }
}
