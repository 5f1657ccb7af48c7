package import PersistenceDriver
import PersistencePrimitives

/// How a declared schema reads and writes the rows of a stored one (contract S1).
///
/// A declared field is a stored field, possibly of another name, or a constant: the fill of a field that the store
/// does not have yet. Stored fields that the declaration lacks keep their values.
package final class SchemaMapping: Sendable {
  /// The source of a declared field.
  package enum Source: Sendable, Hashable {
    case stored(Int)
    case constant(PersistentValue)
  }

  /// A stored field that the declaration lacks.
  package struct UnseenField: Sendable, Hashable {
    package var position: Int
    /// The value of new records; nil if there is none, so that the declaration cannot insert.
    package var initial: PersistentValue?
  }

  /// When the store met the declaration, as one that changed it.
  package enum Meeting: Sendable {
    case never
    /// Another declaration has changed the store since.
    case earlier
    case last
  }

  package let declared: ModelSchema
  package let stored: ModelSchema
  package let sources: [Source]
  package let unseen: [UnseenField]
  package let meeting: Meeting

  /// The stored positions of the declared fields; nil if one is a constant.
  let positions: [Int]?
  /// Whether rows are the same in both schemas, so that only names differ.
  let keepsRows: Bool
  /// Whether declared rows are the beginnings of stored ones.
  let keepsFirstFields: Bool
  /// The declared doubles that the store keeps as floats.
  private let narrowed: [Int]

  package init(
    declared: ModelSchema, stored: ModelSchema, sources: [Source], unseen: [UnseenField], meeting: Meeting
  ) {
    self.meeting = meeting
    self.declared = declared
    self.stored = stored
    self.sources = sources
    self.unseen = unseen
    let positions = sources.compactMap { if case .stored(let position) = $0 { position } else { nil } }
    self.positions = positions.count == sources.count ? positions : nil
    narrowed = declared.fields.indices.filter { position in
      guard case .stored(let place) = sources[position] else { return false }
      return stored.fields[place].kind == .float && declared.fields[position].kind != .float
    }
    keepsFirstFields = positions == Array(sources.indices)
    keepsRows = keepsFirstFields && unseen.isEmpty && positions == Array(stored.fields.indices)
  }

  /// The constant of a declared field; nil if the field is stored.
  private func constant(of field: String) -> PersistentValue? {
    guard let position = declared.position(of: field), case .constant(let value) = sources[position] else {
      return nil
    }
    return value
  }

  /// The stored name of a declared field; the name itself if the field is a constant.
  private func name(_ field: String) -> String {
    guard let position = declared.position(of: field), case .stored(let stored) = sources[position] else {
      return field
    }
    return self.stored.fields[stored].name
  }

  /// Whether the stored fields can keep every value of the declared ones.
  var storesEveryRow: Bool {
    zip(declared.fields, sources).allSatisfy { field, source in
      guard case .stored(let position) = source else { return false }
      return stored.fields[position].kind == field.kind
        && stored.fields[position].isOptional == field.isOptional
    }
  }

  /// The declared indexes that the store lacks, because a version that it takes for a newer one has removed them.
  package var absentIndexes: [IndexSchema] {
    declared.indexes.filter { index in
      let fields = index.fields.map { StoredName(name($0)) }
      return !stored.indexes.contains {
        $0.fields.map(StoredName.init) == fields && ($0.isUnique || !index.isUnique)
      }
    }
  }

  /// Checks that the stored fields can keep the numbers of a row.
  ///
  /// Drivers check integers, but take each double of a float field for a float.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest``.
  func requireExactNumbers(_ row: borrowing Row) throws {
    for position in narrowed {
      let cell = row[position]
      guard cell.tag == .double, !FieldKind.float.canRepresent(cell.doubleValue) else { continue }
      let field = declared.fields[position]
      throw PersistenceError(
        .invalidRequest,
        "the store keeps “\(field.name)” of \(declared.name) as a float, which cannot represent \(cell.doubleValue); "
          + "open the store with schema: to change the field", model: declared.name, field: field.name)
    }
  }

  // MARK: - Requests

  /// The request for the stored rows.
  ///
  /// - Throws: ``PersistenceError`` if the predicate cannot be evaluated on a constant.
  func request(_ request: FetchRequest) throws -> FetchRequest {
    // An anchor with a constant, or with nil where the stored field is required, becomes part of the predicate.
    let isAnchored =
      request.after.map { after in
        after.values.contains(where: \.isNull)
          || request.totalOrder.contains { constant(of: $0.field) != nil }
      } ?? false
    let predicate = try (isAnchored ? request.predicateWithAnchor : request.predicate).map(condition)
    let order = request.totalOrder.filter { constant(of: $0.field) == nil }
    let mapped = try FetchRequest(
      stored, where: predicate,
      order: order.map { FieldOrder(name($0.field), isDescending: $0.isDescending) },
      limit: request.limit, offset: request.offset, after: isAnchored ? nil : request.after)
    return request.isPlannedAnew ? mapped.plannedAnew : mapped
  }

  /// The request with stored names; nil if it groups or aggregates a constant.
  func request(_ request: AggregateRequest) throws -> AggregateRequest? {
    let fields = request.grouping + request.aggregates.compactMap(\.field)
    guard fields.allSatisfy({ constant(of: $0) == nil }) else { return nil }
    return try AggregateRequest(
      self.request(request.rows), grouping: request.grouping.map(name),
      aggregates: request.aggregates.map { aggregate in
        switch aggregate {
        case .count: .count
        case .minimum(let field): .minimum(of: name(field))
        case .maximum(let field): .maximum(of: name(field))
        case .sum(let field): .sum(of: name(field))
        case .average(let field): .average(of: name(field))
        }
      })
  }

  /// The update with stored names.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` if it sets a field that the
  ///   store does not have yet.
  func request(_ request: UpdateRequest) throws -> UpdateRequest {
    try UpdateRequest(
      self.request(request.rows),
      set: request.assignments.map { assignment in
        if constant(of: assignment.field) != nil { throw notStored(assignment.field) }
        return FieldAssignment(name(assignment.field), assignment.value)
      })
  }

  private func notStored(_ field: String) -> PersistenceError {
    PersistenceError(
      .schemaMismatch,
      "the store does not have the field “\(field)” of \(declared.name) yet; open it for writing",
      model: declared.name, field: field)
  }

  private func condition(_ node: PredicateNode) throws -> PredicateNode {
    switch node {
    case .constant: return node
    case .related: throw PersistenceError.relationInRequest
    case .all(let nodes): return .all(try nodes.map(condition))
    case .any(let nodes): return .any(try nodes.map(condition))
    case .not(let node): return .not(try condition(node))
    case .comparison(let field, let comparison, let value):
      return try folded(node, field) ?? .comparison(field: name(field), comparison, value)
    case .isIn(let field, let values): return try folded(node, field) ?? .isIn(field: name(field), values)
    case .isBetween(let field, let lower, let upper):
      return try folded(node, field) ?? .isBetween(field: name(field), lower: lower, upper: upper)
    case .text(let field, let search, let text, let isCaseInsensitive):
      return try folded(node, field)
        ?? .text(field: name(field), search, text, isCaseInsensitive: isCaseInsensitive)
    case .document(let field, let path, let condition):
      return try folded(node, field) ?? .document(field: name(field), path: path, condition)
    case .fieldComparison(let left, let comparison, let right):
      switch (constant(of: left), constant(of: right)) {
      case (nil, nil): return .fieldComparison(left: name(left), comparison, right: name(right))
      case (nil, let value?): return Self.comparison(name(left), comparison, value)
      case (let value?, nil): return Self.comparison(name(right), comparison.flipped, value)
      case (_?, _?): return try folded(node, left) ?? node
      }
    }
  }

  /// A comparison with a constant; an ordering with nil is false (contract V6).
  private static func comparison(
    _ field: String, _ comparison: ComparisonOperator, _ value: PersistentValue
  ) -> PredicateNode {
    value.isNull && comparison.isOrdering
      ? .constant(false) : .comparison(field: field, comparison, value)
  }

  /// The truth of a condition on a constant; nil if the field is stored.
  private func folded(_ node: PredicateNode, _ field: String) throws -> PredicateNode? {
    guard constant(of: field) != nil else { return nil }
    let row = RowBuffer(count: sources.count)
    for (position, source) in sources.enumerated() {
      if case .constant(let value) = source { row.set(value, at: position) }
    }
    let predicate = try CompiledPredicate(node, in: declared)
    return .constant(try row.withRow { try predicate.matches($0) })
  }

  // MARK: - Rows

  /// Fills a buffer with the declared fields of a stored row.
  ///
  /// The buffer borrows the row's cells.
  ///
  /// - Throws: ``PersistenceError`` if the driver's row lacks a field.
  func fill(_ buffer: RowBuffer, from row: borrowing Row) throws {
    for (position, source) in sources.enumerated() {
      switch source {
      case .stored(let stored): buffer.setCell(try row.field(at: stored), at: position)
      case .constant(let value): buffer.set(value, at: position)
      }
    }
  }

  /// Fills a buffer with the stored row of a new or changed record.
  ///
  /// - Parameters:
  ///   - buffer: The buffer, whose unseen fields keep their cells if `isNew` is false.
  ///   - row: The declared row, whose cells the buffer borrows.
  ///   - isNew: Whether unseen fields get their initial values.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` if a new record needs a value
  ///   that the declaration does not have, or the row has a value that the store cannot keep.
  func fillStored(_ buffer: RowBuffer, from row: borrowing Row, isNew: Bool) throws {
    for (position, source) in sources.enumerated() {
      switch source {
      case .stored(let stored): buffer.setCell(row[position], at: stored)
      case .constant(let value):
        guard try row.value(at: position) == value else { throw notStored(declared.fields[position].name) }
      }
    }
    guard isNew else { return }
    for field in unseen {
      guard let value = field.initial else {
        let name = stored.fields[field.position].name
        throw PersistenceError(
          .schemaMismatch,
          "\(declared.name) cannot be inserted: the store requires the field “\(name)”, which this program does not "
            + "declare; declare it, or remove it with .remove(\"\(name)\", from: \"\(declared.name)\")",
          model: declared.name, field: name)
      }
      buffer.set(value, at: field.position)
    }
  }
}

extension ComparisonOperator {
  /// The comparison with its sides exchanged.
  var flipped: ComparisonOperator {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}
