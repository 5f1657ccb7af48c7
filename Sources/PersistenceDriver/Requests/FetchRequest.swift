import PersistencePrimitives

/// A request for rows of one model: filter, order and page.
///
/// A request is validated when it is created, so a driver can trust it. Every field exists, every value has its
/// field's kind, patterns are well formed, limits are not negative, and the order uses ordered kinds only.
public struct FetchRequest: Sendable, Hashable {
  /// The parts, which a copy of a request shares: it counts one reference and not a dozen.
  @usableFromInline
  final class Parts: Sendable {
    @usableFromInline let schema: ModelSchema
    @usableFromInline let predicate: PredicateNode?
    @usableFromInline let order: [FieldOrder]
    @usableFromInline let totalOrder: [FieldOrder]
    @usableFromInline let limit: Int?
    @usableFromInline let offset: Int
    @usableFromInline let after: PageAnchor?

    init(
      _ schema: ModelSchema, _ predicate: PredicateNode?, _ order: [FieldOrder], _ totalOrder: [FieldOrder],
      _ limit: Int?, _ offset: Int, _ after: PageAnchor?
    ) {
      (self.schema, self.predicate, self.order, self.totalOrder) = (schema, predicate, order, totalOrder)
      (self.limit, self.offset, self.after) = (limit, offset, after)
    }
  }

  @usableFromInline let parts: Parts

  /// The model.
  @inlinable public var schema: ModelSchema { parts.schema }

  /// The filter; nil for all rows.
  @inlinable public var predicate: PredicateNode? { parts.predicate }

  /// The requested order, without tie-breakers.
  @inlinable public var order: [FieldOrder] { parts.order }

  /// The order with tie-breakers: the requested order, then the remaining fields of the primary key, in the direction
  /// of the last criterion (contract O2).
  @inlinable public var totalOrder: [FieldOrder] { parts.totalOrder }

  /// The maximum number of rows, after filter, order, anchor and offset; nil for all.
  @inlinable public var limit: Int? { parts.limit }

  /// The number of rows to skip, after filter, order and anchor.
  @inlinable public var offset: Int { parts.offset }

  /// The page begins strictly after this anchor; nil for the first page.
  @inlinable public var after: PageAnchor? { parts.after }

  /// Whether the engine makes a plan for this request alone, and neither reuses nor keeps one.
  ///
  /// A test compares the answers to both: a plan that an engine keeps for a shape must not show in the rows.
  package private(set) var isPlannedAnew = false

  /// Creates and validates a request.
  ///
  /// - Parameters:
  ///   - schema: The model.
  ///   - predicate: The filter; nil for all rows.
  ///   - order: The order, most significant criterion first.
  ///   - limit: The maximum number of rows; nil for all, 0 for none.
  ///   - offset: The number of rows to skip.
  ///   - after: The anchor that the page begins after.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` if a field does not exist, and
  ///   ``PersistenceError/Code/invalidRequest`` for any other mistake.
  public init(
    _ schema: ModelSchema, where predicate: PredicateNode? = nil, order: [FieldOrder] = [],
    limit: Int? = nil, offset: Int = 0, after: PageAnchor? = nil
  ) throws {
    if let limit, limit < 0 {
      throw PersistenceError.invalidRequest("the limit is \(limit); use zero or more")
    }
    guard offset >= 0 else {
      throw PersistenceError.invalidRequest("the offset is \(offset); use zero or more")
    }
    let checked = try predicate?.validated(for: schema)
    let (unique, total) = try Self.orders(order, of: schema)
    if let after { try Self.validate(after, in: total, of: schema) }
    parts = Parts(schema, checked, unique, total, limit, offset, after)
  }

  /// The order without repeated fields, and with tie-breakers.
  private static func orders(_ order: [FieldOrder], of schema: ModelSchema) throws
    -> (unique: [FieldOrder], total: [FieldOrder])
  {
    if order.isEmpty { return (order, schema.keyOrder) }
    // Orders are short: a search of them is faster than a set, which allocates and hashes.
    var total: [FieldOrder] = []
    total.reserveCapacity(order.count + schema.key.count)
    func isOrdered(by field: String) -> Bool {
      total.contains { StoredName($0.field) == StoredName(field) }
    }
    for criterion in order {
      let field = try schema.requiredField(named: criterion.field)
      guard field.kind.isOrdered else {
        throw PersistenceError.invalidRequest(
          "\(schema.name) cannot be sorted by “\(field.name)”, which is a document; sort by another field")
      }
      // The second criterion of a field has no effect.
      if !isOrdered(by: criterion.field) { total.append(criterion) }
    }
    // Without repeated fields, the given array is the order, and `total` keeps its memory for itself.
    let unique = total.count == order.count ? order : total
    let direction = unique.last?.isDescending ?? false
    for field in schema.key where !isOrdered(by: field) {
      total.append(FieldOrder(field, isDescending: direction))
    }
    return (unique, total)
  }

  private static func validate(_ anchor: PageAnchor, in totalOrder: [FieldOrder], of schema: ModelSchema)
    throws
  {
    guard anchor.values.count == totalOrder.count else {
      throw PersistenceError.invalidRequest(
        "the page anchor has \(anchor.values.count) values, but the order has \(totalOrder.count) criteria")
    }
    for (value, criterion) in zip(anchor.values, totalOrder) {
      guard let field = schema.field(named: criterion.field),
        value.tag == field.kind.tag || (value.isNull && field.isOptional)
      else {
        throw PersistenceError.invalidRequest(
          "the page anchor does not match the order; use an anchor of the same query")
      }
    }
  }
}

extension FetchRequest {
  /// Whether two requests have the same model, filter, order and page.
  public static func == (left: FetchRequest, right: FetchRequest) -> Bool {
    guard left.isPlannedAnew == right.isPlannedAnew else { return false }
    let (one, other) = (left.parts, right.parts)
    if one === other { return true }
    guard one.schema == other.schema, one.limit == other.limit, one.offset == other.offset else {
      return false
    }
    guard one.predicate == other.predicate, one.after == other.after else { return false }
    return one.order == other.order && one.totalOrder == other.totalOrder
  }

  /// Hashes the model, the filter, the order and the page.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(schema)
    hasher.combine(predicate)
    hasher.combine(totalOrder)
    hasher.combine(limit)
    hasher.combine(offset)
    hasher.combine(after)
  }
}

extension FetchRequest {
  /// The same request, for which engines make a plan of its own.
  package var plannedAnew: FetchRequest {
    var request = self
    request.isPlannedAnew = true
    return request
  }
}

extension FetchRequest: CustomStringConvertible {
  /// The request as text with its values, for debug logs.
  public var description: String { text(predicate: predicate?.description) }

  /// The request as text without values, for logs at any level.
  public var shape: String { text(predicate: predicate?.shape) }

  private func text(predicate: String?) -> String {
    var text = schema.name
    if let predicate { text += " where \(predicate)" }
    if !order.isEmpty { text += " sorted by \(order.map { "\($0)" }.joined(separator: ", "))" }
    if let limit { text += " limit \(limit)" }
    if offset > 0 { text += " offset \(offset)" }
    if after != nil { text += " after an anchor" }
    return text
  }
}

extension FetchRequest {
  /// The model's name, the filter and the order: what a page token belongs to (contract S11).
  package var identifyingText: String { identifyingText(filter: predicate?.description) }

  /// The model's name, the text of a filter that became the one of this request, and the order.
  package func identifyingText(filter: String?) -> String {
    let order = totalOrder.map(\.description).joined(separator: ",")
    return "\(schema.name)\n\(filter ?? "")\n\(order)"
  }

  /// Whether the order is ascending by primary key.
  ///
  /// Most stores keep records in this order, so nothing is sorted.
  public var isInKeyOrder: Bool {
    totalOrder.allSatisfy { !$0.isDescending }
      && totalOrder.map { StoredName($0.field) } == schema.key.map(StoredName.init)
  }
}

/// A sort criterion: a field and a direction.
///
/// Nil comes first in ascending order, last in descending order (O3).
public struct FieldOrder: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The stored name of the field.
  public var field: String

  /// Whether greater values come first.
  public var isDescending: Bool

  /// Creates a criterion.
  public init(_ field: String, isDescending: Bool = false) {
    self.field = field
    self.isDescending = isDescending
  }

  /// Whether two criteria have the same field and direction; names are compared by their bytes.
  public static func == (left: FieldOrder, right: FieldOrder) -> Bool {
    left.isDescending == right.isDescending && StoredName(left.field) == StoredName(right.field)
  }

  /// Hashes the field and the direction.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(StoredName(field))
    hasher.combine(isDescending)
  }

  /// The criterion as text, with a minus for descending, such as `-budget`.
  public var description: String { (isDescending ? "-" : "") + field }
}
