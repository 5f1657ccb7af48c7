// An inclusion begins with a query. `Inclusion+Including` continues it with the same methods.

extension Query {
  @inlinable var inclusion: Inclusion<Model, Model> { Inclusion(self) }

  /// Includes the records that properties refer to; an optional property gives an optional record.
  ///
  /// - Parameter properties: References, or optional ones.
  /// - Returns: A query whose elements are tuples.
  @inlinable
  public func including<each Value: ReferenceValue>(_ properties: repeat KeyPath<Model, each Value>)
    -> Inclusion<Model, (Model, repeat (each Value).Included)>
  {
    return inclusion.beginning(
      with: repeat RelatedLoading<Model, (each Value).Included>.referring(by: each properties))
  }

  /// Includes the records that properties refer to, or nil where the store does not contain them.
  ///
  /// A store that layers fill for a remote one may lack the record of a reference for a while (contract L9).
  ///
  /// - Parameter properties: References, or optional ones.
  /// - Returns: A query whose elements are tuples.
  @inlinable
  public func including<each Value: ReferenceValue>(ifPresent properties: repeat KeyPath<Model, each Value>)
    -> Inclusion<Model, (Model, repeat (each Value).Target?)>
  {
    return inclusion.beginning(
      with: repeat RelatedLoading<Model, (each Value).Target?>.referringIfPresent(by: each properties))
  }

  /// Includes the record that a property refers to, with what belongs to it.
  ///
  /// - Parameters:
  ///   - property: A reference.
  ///   - nested: Adds to the inclusion of the record.
  /// - Returns: A query whose elements are tuples.
  @inlinable
  public func including<Target: PersistentRecord, Nested: Sendable>(
    _ property: KeyPath<Model, Reference<Target>>,
    _ nested: (Inclusion<Target, Target>) -> Inclusion<Target, Nested>
  ) -> Inclusion<Model, (Model, Nested)> {
    let inner = nested(.nested)
    return inclusion.beginning(with: .nested(by: property, inner))
  }

  /// Includes the record that an optional property refers to, with what belongs to it.
  ///
  /// - Parameters:
  ///   - property: An optional reference.
  ///   - nested: Adds to the inclusion of the record.
  /// - Returns: A query whose elements are tuples.
  @inlinable
  public func including<Target: PersistentRecord, Nested: Sendable>(
    _ property: KeyPath<Model, Reference<Target>?>,
    _ nested: (Inclusion<Target, Target>) -> Inclusion<Target, Nested>
  ) -> Inclusion<Model, (Model, Nested?)> {
    let inner = nested(.nested)
    return inclusion.beginning(with: .nested(by: property, inner))
  }

  /// Includes the records of another model that refer to the record.
  ///
  /// - Parameters:
  ///   - property: A reference of the other model to this one.
  ///   - predicate: The condition on the other records; by default all.
  ///   - sorting: The order of the other records; their key breaks ties.
  /// - Returns: A query whose elements are tuples.
  /// - Complexity: A page holds all these records in memory.
  @inlinable
  public func including<Other: PersistentRecord, Value: ReferenceValue>(
    all property: KeyPath<Other, Value>, where predicate: PersistentPredicate<Other> = .all,
    sorted sorting: SortCriterion<Other>...
  ) -> Inclusion<Model, (Model, [Other])> where Value.Target == Model {
    let options = FetchOptions(predicate: predicate, sorting: sorting)
    return inclusion.beginning(with: .all(property, options))
  }

  /// Includes the records of another model that refer to the record, with what belongs to them.
  ///
  /// - Parameters:
  ///   - property: A reference of the other model to this one.
  ///   - predicate: The condition on the other records; by default all.
  ///   - sorting: The order of the other records; their key breaks ties.
  ///   - nested: Adds to the inclusion of the other records.
  /// - Returns: A query whose elements are tuples.
  /// - Complexity: A page holds all these records in memory.
  @inlinable
  public func including<Other: PersistentRecord, Value: ReferenceValue, Nested: Sendable>(
    all property: KeyPath<Other, Value>, where predicate: PersistentPredicate<Other> = .all,
    sorted sorting: SortCriterion<Other>...,
    with nested: (Inclusion<Other, Other>) -> Inclusion<Other, Nested>
  ) -> Inclusion<Model, (Model, [Nested])> where Value.Target == Model {
    let (options, inner) = (FetchOptions(predicate: predicate, sorting: sorting), nested(.nested))
    return inclusion.beginning(with: .all(property, options, inner))
  }

  /// Includes the number of records of another model that refer to the record.
  ///
  /// - Parameters:
  ///   - property: A reference of the other model to this one.
  ///   - predicate: The condition on the other records; by default all.
  /// - Returns: A query whose elements are tuples.
  @inlinable
  public func including<Other: PersistentRecord, Value: ReferenceValue>(
    count property: KeyPath<Other, Value>, where predicate: PersistentPredicate<Other> = .all
  ) -> Inclusion<Model, (Model, Int)> where Value.Target == Model {
    inclusion.beginning(with: .count(property, predicate))
  }
}
