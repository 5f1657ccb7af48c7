import PersistenceDriver

// Conditions on related records (contract L5). `has` follows a reference of the model; `hasAny` asks the records that
// refer to the model. They have two names, because a reference of a model to itself suits both.

extension PersistentPredicate where Model: PersistentRecord {
  /// The property refers to a record that matches a condition.
  ///
  /// ```swift
  /// repository.filter(Movie.self, where: .has(\.studio, \.name == "A24"))
  /// ```
  ///
  /// - Parameters:
  ///   - property: A reference, or an optional one.
  ///   - condition: The condition on the record; by default, that it exists.
  /// - Returns: The condition.
  public static func has<Value: ReferenceValue>(
    _ property: KeyPath<Model, Value>, _ condition: PersistentPredicate<Value.Target> = .all
  ) -> PersistentPredicate {
    relating(.target, property, of: Model.self, to: Value.Target.self, condition)
  }

  /// At least one record of another model refers to this one with a property, and matches a condition.
  ///
  /// ```swift
  /// repository.filter(Movie.self, where: !.hasAny(\Credit.movie, where: \.role == "extra"))
  /// ```
  ///
  /// - Parameters:
  ///   - property: A reference of the other model to this one.
  ///   - condition: The condition on the other record; by default, that it exists.
  /// - Returns: The condition.
  public static func hasAny<Referrer: PersistentRecord, Value: ReferenceValue>(
    _ property: KeyPath<Referrer, Value>, where condition: PersistentPredicate<Referrer> = .all
  ) -> PersistentPredicate where Value.Target == Model {
    relating(.referrers, property, of: Referrer.self, to: Referrer.self, condition)
  }

  private static func relating<Owner: PersistentRecord, Other: PersistentRecord>(
    _ side: RelatedCondition.Side, _ property: AnyKeyPath, of owner: Owner.Type, to other: Other.Type,
    _ condition: PersistentPredicate<Other>
  ) -> PersistentPredicate {
    do {
      guard let field = owner.fieldName(for: property) else {
        throw PersistenceError(
          .unknownField, "\(property) is not a stored property of \(owner)", model: "\(owner)")
      }
      let node = PredicateNode.related(
        RelatedCondition(side, field: field, model: try other.schema.model.name, try condition.checkedNode()))
      return PersistentPredicate(node: node, failure: nil, relating: [other] + condition.related)
    } catch {
      let failure = error as? PersistenceError ?? PersistenceError(.invalidRequest, "\(error)")
      return PersistentPredicate(node: .constant(false), failure: failure)
    }
  }
}

/// The property refers to the record.
public func == <Model: PersistentFields, Value: ReferenceValue>(
  property: KeyPath<Model, Value>, record: Value.Target
) -> PersistentPredicate<Model> {
  .comparing(property, .equal, record.reference)
}

/// The property does not refer to the record.
public func != <Model: PersistentFields, Value: ReferenceValue>(
  property: KeyPath<Model, Value>, record: Value.Target
) -> PersistentPredicate<Model> {
  .comparing(property, .notEqual, record.reference)
}

extension PersistentRepository {
  /// Finds the record that a reference refers to.
  ///
  /// - Parameter reference: The reference.
  /// - Returns: The record; nil if there is none.
  /// - Throws: ``PersistenceError``.
  public func find<Target: PersistentRecord>(_ reference: Reference<Target>) throws -> Target? {
    try Target.find(reference.key, in: context)
  }

  /// Finds the record that an optional reference refers to.
  ///
  /// - Parameter reference: The reference, or nil.
  /// - Returns: The record; nil if there is none.
  /// - Throws: ``PersistenceError``.
  public func find<Target: PersistentRecord>(_ reference: Reference<Target>?) throws -> Target? {
    try reference.flatMap { try Target.find($0.key, in: context) }
  }
}
