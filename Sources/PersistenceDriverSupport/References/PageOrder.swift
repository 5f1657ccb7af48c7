package import PersistenceDriver
import PersistencePrimitives

/// The order of a query's pages: what a bookmark contains, and what it belongs to.
package struct PageOrder: @unchecked Sendable {  // a transaction's order is used at once
  /// The model's name, the filter and the order: what a page token belongs to (contract S11).
  package let identifyingText: String
  /// The positions of the fields that a bookmark is made of.
  package let positions: [Int]
  /// The fields whose values a bookmark contains.
  package let fields: [FieldSchema]
  /// The order, if fields of related records decide it.
  let related: RelatedOrder?

  /// The order of a request.
  init(_ request: FetchRequest, filter: String?) throws {
    identifyingText = request.identifyingText(filter: filter)
    positions = try request.totalOrder.map { try request.schema.requiredPosition(of: $0.field) }
    fields = positions.map { request.schema.fields[$0] }
    related = nil
  }

  /// An order with fields of related records.
  init(_ related: RelatedOrder, of schema: ModelSchema, filter: String) throws {
    identifyingText = "\(schema.name)\n\(filter)\n\(related.description)"
    positions = related.positions
    fields = try related.fields()
    self.related = related
  }

  /// The bookmark of a record, from its values at ``positions``.
  ///
  /// - Throws: ``PersistenceError`` if a related record cannot be read.
  package func anchor(of values: [PersistentValue]) throws -> PageAnchor {
    try related?.anchor(of: values) ?? PageAnchor(values)
  }

  /// The bookmark of a row of the whole model.
  ///
  /// - Throws: ``PersistenceError`` if a related record cannot be read.
  package func anchor(of row: borrowing Row) throws -> PageAnchor {
    var values: [PersistentValue] = []
    for position in positions { values.append(try row.value(at: position)) }
    return try anchor(of: values)
  }
}
