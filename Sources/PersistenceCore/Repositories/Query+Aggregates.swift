public import PersistenceDriver

// Aggregates, which decode no records. Limit, offset and anchor apply first.

extension Query {
  /// The least value of a property, in the contract's order; nil if there is none.
  ///
  /// - Throws: ``PersistenceError``.
  public func min<Value: PersistentValueConvertible>(_ property: KeyPath<Model, Value>) throws
    -> Value?
  {
    try extreme(.minimum(of: Model.name(of: property)))
  }

  /// The least value of an optional property, which skips nil; nil if there is none.
  ///
  /// - Throws: ``PersistenceError``.
  public func min<Value: PersistentValueConvertible>(_ property: KeyPath<Model, Value?>) throws
    -> Value?
  {
    try extreme(.minimum(of: Model.name(of: property)))
  }

  /// The greatest value of a property, in the contract's order, where NaN is the greatest; nil if there is
  /// none.
  ///
  /// - Throws: ``PersistenceError``.
  public func max<Value: PersistentValueConvertible>(_ property: KeyPath<Model, Value>) throws
    -> Value?
  {
    try extreme(.maximum(of: Model.name(of: property)))
  }

  /// The greatest value of an optional property, which skips nil; nil if there is none.
  ///
  /// - Throws: ``PersistenceError``.
  public func max<Value: PersistentValueConvertible>(_ property: KeyPath<Model, Value?>) throws
    -> Value?
  {
    try extreme(.maximum(of: Model.name(of: property)))
  }

  /// The sum of a property, which skips nil; zero if there are no values.
  ///
  /// The sum is exact and rounded once, so every context returns the same. It is NaN if a value is NaN.
  ///
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/valueTooLarge`` if a sum of integers
  ///   exceeds `Int`, or a sum of decimals exceeds `Decimal`.
  public func sum<Value: PersistentNumber>(_ property: KeyPath<Model, Value>) throws -> Value.Sum {
    try .converted(from: single(.sum(of: Model.name(of: property))))
  }

  /// The average of a property, which skips nil; nil if there are no values, NaN if a value is NaN.
  ///
  /// - Throws: ``PersistenceError``.
  public func average<Value: PersistentNumber>(_ property: KeyPath<Model, Value>) throws
    -> Value.Average?
  {
    try .converted(from: single(.average(of: Model.name(of: property))))
  }

  /// The distinct values of a property, in ascending order, including nil.
  ///
  /// - Throws: ``PersistenceError``.
  /// - Complexity: Memory proportional to the number of distinct values.
  public func distinct<Value: PersistentValueConvertible>(_ property: KeyPath<Model, Value>) throws
    -> [Value]
  {
    let groups = try aggregate([Model.name(of: property)], [])
    return try groups.map { try .converted(from: $0.key[0]) }
  }

  /// The number of records for each value of a property, in ascending order of the values.
  ///
  /// - Throws: ``PersistenceError``.
  public func count<Key: PersistentValueConvertible>(by property: KeyPath<Model, Key>) throws
    -> [Group<Key, Int>]
  {
    try grouped(by: property).count()
  }

  /// Groups the query's records by the value of a property.
  public func grouped<Key: PersistentValueConvertible>(by property: KeyPath<Model, Key>)
    -> GroupedQuery<Model, Key>
  {
    GroupedQuery(query: self, field: Model.name(of: property))
  }

  func aggregate(_ grouping: [String], _ aggregates: [Aggregate]) throws -> [AggregateGroup] {
    try Model.aggregate(in: context, options: options, grouping: grouping, aggregates)
  }

  private func single(_ aggregate: Aggregate) throws -> PersistentValue {
    try self.aggregate([], [aggregate]).first?.values.first ?? .null
  }

  private func extreme<Value: PersistentValueConvertible>(_ aggregate: Aggregate) throws -> Value? {
    try Value?.converted(from: single(aggregate))
  }
}

extension PersistentRecord {
  /// Requests aggregates over the records of a fetch.
  static func aggregate(
    in context: any PersistentContext, options: FetchOptions<Self>, grouping: [String],
    _ aggregates: [Aggregate]
  ) throws -> [AggregateGroup] {
    try StorageAccess.withRequest(of: RequestOptions.of(options), in: context) { access, answerable in
      let (reader, rows) = (answerable.reader, answerable.request)
      let request = try AggregateRequest(rows, grouping: grouping, aggregates: aggregates)
      return try access.root.monitor.measure(rows) {
        try reader.plan(for: rows)
      } _: {
        try reader.aggregate(request)
      }
    }
  }
}
