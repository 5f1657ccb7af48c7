package import PersistenceDriver

/// Records to read with those of a page: those that a reference leads to, or that refer to them (contract L7).
package struct RelatedInclusion: Sendable, Hashable {
  /// Which side of the reference the included records are on.
  package var side: RelatedCondition.Side
  /// The stored name of the reference.
  package var field: String
  /// The model of the included records.
  package var model: String
  /// The condition on the included records; nil for all.
  package var condition: PredicateNode?
  /// What is included with the included records.
  package var nested: [RelatedInclusion]

  package init(
    _ side: RelatedCondition.Side, field: String, model: String, where condition: PredicateNode? = nil,
    including nested: [RelatedInclusion] = []
  ) {
    self.side = side
    self.field = field
    self.model = model
    self.condition = condition
    self.nested = nested
  }
}
