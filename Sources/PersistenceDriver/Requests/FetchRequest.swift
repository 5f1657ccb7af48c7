import PersistencePrimitives

/// What a driver is asked for: rows of one model, filtered, ordered and cut to a page.
///
/// A request is checked when it is made, so a driver can trust it: every field exists, every value is of its
/// field's kind, patterns are well formed, limits are not negative, and only ordered kinds are ordered by.
public struct FetchRequest: Sendable, Hashable {
  /// The model.
  public let schema: ModelSchema

  /// Which rows; nil for all.
  public let predicate: PredicateNode?

  /// The order that was asked for, without the ties.
  public let order: [FieldOrder]

  /// The order with the ties broken: what was asked for, then the fields of the primary key that are not in
  /// it yet, in the direction of the last criterion (contract O2).
  public let totalOrder: [FieldOrder]

  /// How many rows at most, after filter, order, anchor and offset; nil for all.
  public let limit: Int?

  /// How many rows are passed over, after filter, order and anchor.
  public let offset: Int

  /// Rows strictly after this place only.
  public let after: PageAnchor?

  /// Makes a request and checks it.
  ///
  /// - Parameters:
  ///   - schema: The model.
  ///   - predicate: Which rows; nil for all.
  ///   - order: The order, most significant criterion first.
  ///   - limit: How many rows at most; nil for all, 0 for none.
  ///   - offset: How many rows are passed over.
  ///   - after: Rows strictly after this place only.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` where a field does not
  ///   exist, and ``PersistenceError/Code/invalidRequest`` where anything else is wrong.
  public init(
    _ schema: ModelSchema, where predicate: PredicateNode? = nil, order: [FieldOrder] = [],
    limit: Int? = nil, offset: Int = 0, after: PageAnchor? = nil
  ) throws {
    if let limit, limit < 0 { throw PersistenceError.invalidRequest("the limit \(limit) is negative") }
    guard offset >= 0 else { throw PersistenceError.invalidRequest("the offset \(offset) is negative") }
    self.schema = schema
    self.predicate = try predicate?.validated(for: schema)
    var unique: [FieldOrder] = []
    var seen: Set<StoredName> = []
    for criterion in order {
      guard let field = schema.field(named: criterion.field) else {
        throw PersistenceError.unknownField(criterion.field, in: schema)
      }
      guard field.kind.isOrdered else {
        throw PersistenceError.invalidRequest(
          "\(schema.name) cannot be sorted by the document “\(field.name)”")
      }
      // A field that stands in the order already decides nothing the second time.
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
        "the page anchor has \(anchor.values.count) values, the order has \(totalOrder.count) criteria")
    }
    for (value, criterion) in zip(anchor.values, totalOrder) {
      guard let field = schema.field(named: criterion.field),
        value.tag == field.kind.tag || (value.isNull && field.isOptional)
      else {
        throw PersistenceError.invalidRequest("the page anchor does not fit the order of the request")
      }
    }
  }
}

extension FetchRequest: CustomStringConvertible {
  /// The request as text, with its values: for people and debug logs.
  public var description: String { text(predicate: predicate?.description) }

  /// The request as text without any value: what may be logged at any level.
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
