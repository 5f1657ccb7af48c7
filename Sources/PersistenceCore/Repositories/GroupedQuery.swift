public import PersistenceDriver

/// A group of records with its aggregate.
public struct Group<Key, Value> {
  /// The value that the records share.
  public let key: Key
  /// The aggregate of the records.
  public let value: Value

  /// Creates a group.
  public init(_ key: Key, _ value: Value) {
    self.key = key
    self.value = value
  }
}

extension Group: Sendable where Key: Sendable, Value: Sendable {}
extension Group: Equatable where Key: Equatable, Value: Equatable {}
extension Group: Hashable where Key: Hashable, Value: Hashable {}

/// A query whose records are grouped by the value of a property.
///
/// ```swift
/// let budgets = try repository.filter(Movie.self).grouped(by: \.rating).sum(\.budget)
/// ```
///
/// Groups are in ascending order of their keys, nil first.
public struct GroupedQuery<Model: PersistentRecord, Key: PersistentValueConvertible>: Sendable {
  let query: Query<Model>
  let field: String

  /// The number of records in each group.
  ///
  /// - Throws: ``PersistenceError``.
  public func count() throws -> [Group<Key, Int>] { try groups(.count) }

  /// The least value of a property in each group; nil if all values are nil.
  ///
  /// - Throws: ``PersistenceError``.
  public func min<Value: PersistentValueConvertible>(_ property: KeyPath<Model, Value>) throws
    -> [Group<Key, Value?>]
  {
    try groups(.minimum(of: Model.name(of: property)))
  }

  /// The least value of an optional property in each group; nil if all values are nil.
  ///
  /// - Throws: ``PersistenceError``.
  public func min<Value: PersistentValueConvertible>(_ property: KeyPath<Model, Value?>) throws
    -> [Group<Key, Value?>]
  {
    try groups(.minimum(of: Model.name(of: property)))
  }

  /// The greatest value of a property in each group; nil if all values are nil.
  ///
  /// - Throws: ``PersistenceError``.
  public func max<Value: PersistentValueConvertible>(_ property: KeyPath<Model, Value>) throws
    -> [Group<Key, Value?>]
  {
    try groups(.maximum(of: Model.name(of: property)))
  }

  /// The greatest value of an optional property in each group; nil if all values are nil.
  ///
  /// - Throws: ``PersistenceError``.
  public func max<Value: PersistentValueConvertible>(_ property: KeyPath<Model, Value?>) throws
    -> [Group<Key, Value?>]
  {
    try groups(.maximum(of: Model.name(of: property)))
  }

  /// The sum of a property in each group, exact and rounded once.
  ///
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/valueTooLarge`` if a sum is out of
  ///   range.
  public func sum<Value: PersistentNumber>(_ property: KeyPath<Model, Value>) throws
    -> [Group<Key, Value.Sum>]
  {
    try groups(.sum(of: Model.name(of: property)))
  }

  /// The average of a property in each group; nil if all values are nil.
  ///
  /// - Throws: ``PersistenceError``.
  public func average<Value: PersistentNumber>(_ property: KeyPath<Model, Value>) throws
    -> [Group<Key, Value.Average?>]
  {
    try groups(.average(of: Model.name(of: property)))
  }

  private func groups<Value: PersistentValueConvertible>(_ aggregate: Aggregate) throws -> [Group<Key, Value>]
  {
    try query.aggregate([field], [aggregate]).map { group in
      Group(try .converted(from: group.key[0]), try .converted(from: group.values[0]))
    }
  }
}
