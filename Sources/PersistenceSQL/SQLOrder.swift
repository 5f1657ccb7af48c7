package import PersistenceDriver
package import PersistenceDriverSupport

/// A total order, with its fields looked up in one declaration: what requests of one order share.
package final class SQLOrder: Sendable {
  /// The criteria as requests name them.
  package let criteria: [FieldOrder]

  /// The order, by field position.
  package let rows: RowOrder

  /// The positions of the fields.
  package let positions: [Int]

  /// The criteria as words of a statement key.
  let words: [UInt64]

  /// Looks up the fields of criteria, such as ``FetchRequest/totalOrder``.
  package init(_ criteria: [FieldOrder], in schema: ModelSchema) throws {
    self.criteria = criteria
    rows = try RowOrder(criteria, in: schema)
    positions = rows.criteria.map { $0.position }
    words = rows.criteria.map { UInt64($0.position) << 1 | ($0.isDescending ? 1 : 0) }
  }
}
