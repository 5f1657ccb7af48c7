package import PersistenceDriver
import PersistencePrimitives

/// An order with fields of related records: sorts the keys of a request's rows (contract L6).
///
/// - Complexity: Memory for the keys and the sort values of all rows, and one request for each chunk of related records.
package struct RelatedOrder {
  /// One criterion: a field of the model, or of the record to which a reference leads.
  package struct Criterion: Sendable, Hashable {
    package let order: FieldOrder
    package let related: RelatedField?

    package init(_ order: FieldOrder, related: RelatedField? = nil) {
      self.order = order
      self.related = related
    }

    /// What decides, whatever the direction.
    fileprivate enum Field: Hashable {
      case own(StoredName)
      case related(RelatedField)
    }

    fileprivate var field: Field { related.map { .related($0) } ?? .own(StoredName(order.field)) }

    package init(_ related: RelatedField, isDescending: Bool) {
      self.init(FieldOrder(related.criterionName, isDescending: isDescending), related: related)
    }
  }

  private let criteria: [Criterion]
  private let schema: ModelSchema
  private let reader: any StorageReader
  private let declared: [StoredName: ModelSchema]
  /// The positions of the model's fields that decide, with the reference in place of a related field, and of the key.
  let positions: [Int]
  private let plans: RelationPlans?

  package init(
    _ criteria: [Criterion], of schema: ModelSchema, _ reader: any StorageReader, declared: [ModelSchema],
    plans: RelationPlans? = nil
  ) throws {
    // A repeated criterion decides nothing, and gives the key no direction (contract O2).
    var criteria = criteria
    var known: Set<Criterion.Field> = []
    criteria.removeAll { !known.insert($0.field).inserted }
    self.criteria = criteria
    self.plans = plans
    self.schema = schema
    self.reader = reader
    self.declared = declared.byName
    positions =
      try criteria.map { try schema.requiredPosition(of: $0.related?.reference ?? $0.order.field) }
      + schema.keyPositions
    for (criterion, position) in zip(criteria, positions)
    where criterion.related == nil && !schema.fields[position].kind.isOrdered {
      throw PersistenceError.invalidRequest(
        "\(schema.name) cannot be sorted by “\(criterion.order.field)”, which is a document; sort by another field"
      )
    }
  }

  /// The order as text, to which page tokens belong.
  package var description: String { criteria.map(\.order.description).joined(separator: ",") }

  /// The keys of the rows that match a condition, in order.
  ///
  /// - Parameters:
  ///   - predicate: The condition.
  ///   - anchor: The keys begin strictly after it; nil to begin with the first.
  ///   - offset: The number of keys to skip after the anchor.
  ///   - limit: The maximum number of keys.
  /// - Returns: The keys.
  /// - Throws: ``PersistenceError``.
  package func keys(where predicate: PredicateNode?, after anchor: PageAnchor?, offset: Int, limit: Int?)
    throws
    -> [RecordKey]
  {
    var rows: [[PersistentValue]] = []
    let request = try FetchRequest(schema, where: predicate)
    _ = try reader.fetch(request, selecting: positions).read(from: 0, limit: Int.max) { row in
      var values: [PersistentValue] = []
      values.reserveCapacity(positions.count)
      for position in positions.indices { values.append(try row.value(at: position)) }
      rows.append(values)
    }
    try resolve(&rows)
    rows.sort { compare($0, $1) < 0 }
    var rest = rows[...]
    if let anchor {
      guard anchor.values.count == positions.count else {
        throw PersistenceError.invalidRequest(
          "the page anchor does not match the order; use an anchor of the same query")
      }
      rest = rest.drop { compare($0, anchor.values) <= 0 }
    }
    rest = rest.dropFirst(offset)
    if let limit { rest = rest.prefix(limit) }
    return rest.map { RecordKey(Array($0.suffix(schema.keyPositions.count))) }
  }

  /// The fields whose values decide: of related records, which can be absent, and of the key.
  func fields() throws -> [FieldSchema] {
    try positions.enumerated().map { index, position in
      guard index < criteria.count, let related = criteria[index].related else {
        return schema.fields[position]
      }
      let other = try declared[StoredName(related.model)] ?? reader.schema(named: related.model)
      var field = try other?.requiredField(named: related.field) ?? schema.fields[position]
      field.isOptional = true
      return field
    }
  }

  /// The anchor of a row, from its values at ``positions``.
  func anchor(of values: [PersistentValue]) throws -> PageAnchor {
    var rows = [values]
    try resolve(&rows)
    return PageAnchor(rows[0])
  }

  /// Compares sort values, and then keys in the direction of the last criterion: negative, zero or positive.
  private func compare(_ left: [PersistentValue], _ right: [PersistentValue]) -> Int {
    let last = criteria.last?.order.isDescending ?? false
    for index in positions.indices {
      let order = PersistentValue.compare(left[index], right[index])
      if order == 0 { continue }
      return (index < criteria.count ? criteria[index].order.isDescending : last) ? -order : order
    }
    return 0
  }

  /// Replaces references by the values of the records to which they lead; by nil if there is no record.
  private func resolve(_ rows: inout [[PersistentValue]]) throws {
    for (index, criterion) in criteria.enumerated() {
      guard let related = criterion.related else { continue }
      let keys = Set(rows.lazy.map { $0[index] }.filter { !$0.isNull })
      let values = try values(of: related, keys)
      for row in rows.indices { rows[row][index] = values[rows[row][index]] ?? .null }
    }
  }

  private func values(of related: RelatedField, _ keys: Set<PersistentValue>) throws
    -> [PersistentValue: PersistentValue]
  {
    guard let schema = try declared[StoredName(related.model)] ?? reader.schema(named: related.model) else {
      return [:]
    }
    let field = try schema.requiredField(named: related.field)
    guard field.kind.isOrdered, schema.key.count == 1 else {
      throw PersistenceError.invalidRequest(
        "\(self.schema.name) cannot be sorted by “\(related.path)”, which has no order; sort by another field"
      )
    }
    let positions = [schema.keyPositions[0], try schema.requiredPosition(of: related.field)]
    var values: [PersistentValue: PersistentValue] = [:]
    values.reserveCapacity(keys.count)
    for (number, chunk) in keys.sorted().chunks(of: KeepingTransaction.chunk).enumerated() {
      let request = try FetchRequest(schema, where: .isIn(field: schema.key[0], chunk))
      if number == 0 { try plans?.add(related.path, keys.count, request, selecting: related.field, reader) }
      _ = try reader.fetch(request, selecting: positions).read(from: 0, limit: Int.max) {
        values[try $0.value(at: 0)] = try $0.value(at: 1)
      }
    }
    return values
  }
}
