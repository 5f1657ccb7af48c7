import PersistencePrimitives

/// A request for rows of one model: filter, order and page.
///
/// A request is validated when it is created, so a driver can trust it. Every field exists, every value has its
/// field's kind, patterns are well formed, limits are not negative, and the order uses ordered kinds only.
public struct FetchRequest: Sendable, Hashable {
  /// The model.
  public let schema: ModelSchema

  /// The filter; nil for all rows.
  public let predicate: PredicateNode?

  /// The requested order, without tie-breakers.
  public let order: [FieldOrder]

  /// The order with tie-breakers: the requested order, then the remaining fields of the primary key, in the direction
  /// of the last criterion (contract O2).
  public let totalOrder: [FieldOrder]

  /// The maximum number of rows, after filter, order, anchor and offset; nil for all.
  public let limit: Int?

  /// The number of rows to skip, after filter, order and anchor.
  public let offset: Int

  /// The page begins strictly after this anchor; nil for the first page.
  public let after: PageAnchor?

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
    self.schema = schema
    self.predicate = try predicate?.validated(for: schema)
    var unique: [FieldOrder] = []
    var seen: Set<StoredName> = []
    for criterion in order {
      let field = try schema.requiredField(named: criterion.field)
      guard field.kind.isOrdered else {
        throw PersistenceError.invalidRequest(
          "\(schema.name) cannot be sorted by “\(field.name)”, which is a document; sort by another field")
      }
      // The second criterion of a field has no effect.
      if seen.insert(StoredName(criterion.field)).inserted { unique.append(criterion) }
    }
    self.order = unique
    let direction = unique.last?.isDescending ?? false
    totalOrder =
      unique
      + schema.key.filter { !seen.contains(StoredName($0)) }.map { FieldOrder($0, isDescending: direction) }
    self.limit = limit
    self.offset = offset
    self.after = after
    if let after { try validate(after) }
  }

  private func validate(_ anchor: PageAnchor) throws {
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
