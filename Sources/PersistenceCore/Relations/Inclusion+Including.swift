// What an inclusion can contain. `Query+Including` begins an inclusion with the same methods.

extension Inclusion {
  /// Adds the records that properties refer to; an optional property gives an optional record.
  ///
  /// - Parameter properties: References, or optional ones.
  /// - Returns: The inclusion with an element of the tuples for each property.
  @inlinable
  public func including<each Known: Sendable, each Value: ReferenceValue>(
    _ properties: repeat KeyPath<Model, each Value>
  )
    -> Inclusion<Model, (repeat each Known, repeat (each Value).Included)>
  where Element == (repeat each Known) {
    return adding(repeat RelatedLoading<Model, (each Value).Included>.referring(by: each properties))
  }

  /// Adds the records that properties refer to, or nil where the store does not contain them.
  ///
  /// A store that layers fill for a remote one may lack the record of a reference for a while (contract L9).
  ///
  /// - Parameter properties: References, or optional ones.
  /// - Returns: The inclusion with an optional element of the tuples for each property.
  @inlinable
  public func including<each Known: Sendable, each Value: ReferenceValue>(
    ifPresent properties: repeat KeyPath<Model, each Value>
  )
    -> Inclusion<Model, (repeat each Known, repeat (each Value).Target?)>
  where Element == (repeat each Known) {
    return adding(repeat RelatedLoading<Model, (each Value).Target?>.referringIfPresent(by: each properties))
  }

  /// Adds the record that a property refers to, with what belongs to it.
  ///
  /// - Parameters:
  ///   - property: A reference.
  ///   - nested: Adds to the inclusion of the record.
  /// - Returns: The inclusion with one more element of the tuples.
  @inlinable
  public func including<each Known: Sendable, Target: PersistentRecord, Nested: Sendable>(
    _ property: KeyPath<Model, Reference<Target>>,
    _ nested: (Inclusion<Target, Target>) -> Inclusion<Target, Nested>
  ) -> Inclusion<Model, (repeat each Known, Nested)> where Element == (repeat each Known) {
    let inner = nested(.nested)
    return adding(.nested(by: property, inner))
  }

  /// Adds the record that an optional property refers to, with what belongs to it.
  ///
  /// - Parameters:
  ///   - property: An optional reference.
  ///   - nested: Adds to the inclusion of the record.
  /// - Returns: The inclusion with one more element of the tuples.
  @inlinable
  public func including<each Known: Sendable, Target: PersistentRecord, Nested: Sendable>(
    _ property: KeyPath<Model, Reference<Target>?>,
    _ nested: (Inclusion<Target, Target>) -> Inclusion<Target, Nested>
  ) -> Inclusion<Model, (repeat each Known, Nested?)> where Element == (repeat each Known) {
    let inner = nested(.nested)
    return adding(.nested(by: property, inner))
  }

  /// Adds the records of another model that refer to the record.
  ///
  /// - Parameters:
  ///   - property: A reference of the other model to this one.
  ///   - predicate: The condition on the other records; by default all.
  ///   - sorting: The order of the other records; their key breaks ties.
  /// - Returns: The inclusion with one more element of the tuples.
  /// - Complexity: A page holds all these records in memory.
  @inlinable
  public func including<each Known: Sendable, Other: PersistentRecord, Value: ReferenceValue>(
    all property: KeyPath<Other, Value>, where predicate: PersistentPredicate<Other> = .all,
    sorted sorting: SortCriterion<Other>...
  ) -> Inclusion<Model, (repeat each Known, [Other])>
  where Element == (repeat each Known), Value.Target == Model {
    let options = FetchOptions(predicate: predicate, sorting: sorting)
    return adding(.all(property, options))
  }

  /// Adds the records of another model that refer to the record, with what belongs to them.
  ///
  /// - Parameters:
  ///   - property: A reference of the other model to this one.
  ///   - predicate: The condition on the other records; by default all.
  ///   - sorting: The order of the other records; their key breaks ties.
  ///   - nested: Adds to the inclusion of the other records.
  /// - Returns: The inclusion with one more element of the tuples.
  /// - Complexity: A page holds all these records in memory.
  @inlinable
  public func including<
    each Known: Sendable, Other: PersistentRecord, Value: ReferenceValue, Nested: Sendable
  >(
    all property: KeyPath<Other, Value>, where predicate: PersistentPredicate<Other> = .all,
    sorted sorting: SortCriterion<Other>...,
    with nested: (Inclusion<Other, Other>) -> Inclusion<Other, Nested>
  ) -> Inclusion<Model, (repeat each Known, [Nested])>
  where Element == (repeat each Known), Value.Target == Model {
    let (options, inner) = (FetchOptions(predicate: predicate, sorting: sorting), nested(.nested))
    return adding(.all(property, options, inner))
  }

  /// Adds the number of records of another model that refer to the record.
  ///
  /// - Parameters:
  ///   - property: A reference of the other model to this one.
  ///   - predicate: The condition on the other records; by default all.
  /// - Returns: The inclusion with one more element of the tuples.
  @inlinable
  public func including<each Known: Sendable, Other: PersistentRecord, Value: ReferenceValue>(
    count property: KeyPath<Other, Value>, where predicate: PersistentPredicate<Other> = .all
  ) -> Inclusion<Model, (repeat each Known, Int)>
  where Element == (repeat each Known), Value.Target == Model {
    adding(.count(property, predicate))
  }
}
