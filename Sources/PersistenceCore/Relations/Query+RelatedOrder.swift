public import PersistenceDriver

extension SortCriterion where Model: PersistentRecord {
  /// Creates a criterion over a property of the record to which a reference leads; without a record, it sorts as nil.
  ///
  /// - Parameters:
  ///   - reference: A reference, or an optional one.
  ///   - property: A stored property of its target.
  ///   - order: The direction; ascending by default.
  public init<Value: ReferenceValue, Field: PersistentValueConvertible>(
    _ reference: KeyPath<Model, Value>, _ property: KeyPath<Value.Target, Field>,
    order: SortDirection = .ascending
  ) {
    self.init(
      related: RelatedField(
        Model.name(of: reference), model: (try? Value.Target.schema.model.name) ?? "\(Value.Target.self)",
        field: Value.Target.name(of: property)), of: Value.Target.self, isDescending: order == .descending)
  }
}

extension Query {
  /// The query with another sort criterion, less significant than the existing ones: a property of the record to which a
  /// reference leads.
  ///
  /// ```swift
  /// repository.filter(Movie.self).sorted(by: \.studio, \.name)
  /// ```
  ///
  /// - Parameters:
  ///   - reference: A reference, or an optional one; without a record, it sorts as nil.
  ///   - property: A stored property of its target.
  ///   - order: The direction; ascending by default.
  /// - Returns: The new query.
  /// - Complexity: The keys of all records of the query are sorted in memory.
  public func sorted<Value: ReferenceValue, Field: PersistentValueConvertible>(
    by reference: KeyPath<Model, Value>, _ property: KeyPath<Value.Target, Field>,
    inOrder order: SortDirection = .ascending
  ) -> Query {
    sorted(by: SortCriterion(reference, property, order: order))
  }
}
