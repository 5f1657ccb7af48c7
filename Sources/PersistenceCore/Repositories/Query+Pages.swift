public import PersistenceDriver

/// One page of a query's records, and where the next one begins.
public struct Page<Model: Sendable>: Sendable {
  /// The records.
  public let models: [Model]

  /// What the next page begins after; nil where there was none when this page was read.
  public let next: PageToken?
}

extension Query {
  /// The query for the records strictly after the place where a page of it ended.
  ///
  /// - Parameter token: A token of the same query, whose limit and offset may differ.
  /// - Returns: The new query; asking it throws where the token is another query's or store's.
  public func after(_ token: PageToken) -> Query { changed { $0.token = token } }

  /// The records up to the limit, whole, with the token of the next page.
  ///
  /// ```swift
  /// var page = try query.limit(20).page()
  /// while let next = page.next { page = try query.limit(20).after(next).page() }
  /// ```
  ///
  /// - Returns: The page; without a limit, everything.
  /// - Throws: ``PersistenceError``.
  public func page() throws -> Page<Model> {
    // One that is negative is refused there, and beyond the greatest there is no page.
    guard let limit = options.limit, (0..<Int.max).contains(limit) else {
      return Page(models: Array(try result()), next: nil)
    }
    // One more says whether there is a next page.
    var models = Array(try self.limit(limit + 1).result())
    guard models.count > limit else { return Page(models: models, next: nil) }
    models.removeLast()
    return Page(models: models, next: try models.last.map(token(after:)))
  }

  /// The token of the place of a record in this query's order.
  ///
  /// - Parameter model: The record, which need not be stored.
  /// - Returns: The token.
  /// - Throws: ``PersistenceError``.
  public func token(after model: Model) throws -> PageToken {
    let access = try StorageAccess(context, for: Model.self)
    let request = try options.request(in: access.root)
    return try PageToken(
      FetchOptions.anchor(of: model, in: request), of: request, location: access.root.location)
  }

  /// How the query would be answered: which index, what the engine decides, how the order comes about.
  ///
  /// - Returns: The plan.
  /// - Throws: ``PersistenceError``.
  public func explain() throws -> QueryPlan {
    let access = try StorageAccess(context, for: Model.self)
    return try access.reader.plan(for: options.request(in: access.root))
  }

  /// How the query would be answered for some properties: also whether an index holds them all, so that no record is
  /// read.
  ///
  /// - Parameter properties: Stored properties, as for ``select(_:fileID:line:)``.
  /// - Returns: The plan.
  /// - Throws: ``PersistenceError``.
  public func explain<each Value: PersistentValueConvertible & Sendable>(
    selecting properties: repeat SendableKeyPath<Model, each Value>
  ) throws -> QueryPlan {
    let access = try StorageAccess(context, for: Model.self)
    let schema = try Model.schema.model
    var positions: [Int] = []
    for property in repeat each properties {
      let name = Model.name(of: property)
      guard let position = schema.position(of: name) else {
        throw PersistenceError.unknownField(name, in: schema)
      }
      positions.append(position)
    }
    return try access.reader.plan(for: options.request(in: access.root), selecting: positions)
  }
}
