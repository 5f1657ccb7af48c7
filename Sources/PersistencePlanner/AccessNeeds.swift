/// What is wanted of the rows of a request: what a plan need not give costs nothing.
package struct AccessNeeds: Sendable {
  /// The stored names of the fields that are read of each row; nil for all.
  package var fields: [String]?
  /// Whether the rows are wanted in the request's order, or only together.
  package var isOrdered: Bool

  package init(fields: [String]?, isOrdered: Bool) {
    self.fields = fields
    self.isOrdered = isOrdered
  }

  /// Whole rows in order.
  package static let rows = AccessNeeds(fields: nil, isOrdered: true)

  /// How many rows there are.
  package static let count = AccessNeeds(fields: [], isOrdered: false)
}
