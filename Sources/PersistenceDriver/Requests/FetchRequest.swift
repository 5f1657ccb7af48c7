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

extension PredicateNode {
  /// The maximum nesting of a predicate; a deeper one could overflow the stack.
  static let depthLimit = 500

  /// Checks every field and value against a schema, and returns the predicate in the form that drivers receive.
  ///
  /// Values are normalized (contract V4). The values of an `in` list are sorted and unique, so that one set of values
  /// is one condition. A nil in an `in` list, which matches nil (V6), becomes a separate comparison, so that drivers
  /// never receive a list with nil.
  package func validated(for schema: ModelSchema) throws -> PredicateNode {
    var patterns = PatternBudget()
    return try validated(for: schema, depth: 0, &patterns)
  }

  private func validated(for schema: ModelSchema, depth: Int, _ patterns: inout PatternBudget) throws
    -> PredicateNode
  {
    guard depth < Self.depthLimit else {
      throw PersistenceError.invalidRequest(
        "the predicate is nested deeper than \(Self.depthLimit) levels; simplify it")
    }
    switch self {
    case .constant: return self
    case .comparison(let name, let comparison, let value):
      let field = try Self.field(name, in: schema, isOrdered: comparison.isOrdering)
      let checked = try Self.checked(value, for: field, in: schema)
      // Values of other kinds are normal already, so the node need not be made anew.
      guard checked.tag == .double || checked.tag == .date else { return self }
      return .comparison(field: name, comparison, checked)
    case .fieldComparison(let left, let comparison, let right):
      let first = try Self.field(left, in: schema, isOrdered: comparison.isOrdering)
      let second = try Self.field(right, in: schema, isOrdered: comparison.isOrdering)
      guard first.kind.tag == second.kind.tag else {
        throw PersistenceError.invalidRequest(
          "“\(left)” (\(first.kind.rawValue)) cannot be compared with “\(right)” (\(second.kind.rawValue)); "
            + "compare fields of one kind")
      }
      return self
    case .isIn(let name, let values):
      let field = try Self.field(name, in: schema, isOrdered: false)
      if field.kind.tag == .integer, Self.areAscendingIntegers(values) { return self }
      let present = try values.filter { !$0.isNull }.map { try Self.checked($0, for: field, in: schema) }
      let list = PredicateNode.isIn(field: name, Self.inOrder(present))
      return present.count == values.count ? list : .any([list, .comparison(field: name, .equal, .null)])
    case .isBetween(let name, let lower, let upper):
      let field = try Self.field(name, in: schema, isOrdered: true)
      return .isBetween(
        field: name, lower: try Self.checked(lower, for: field, in: schema),
        upper: try Self.checked(upper, for: field, in: schema))
    case .text(let name, let search, let needle, let isCaseInsensitive):
      let field = try Self.field(name, in: schema, isOrdered: false)
      guard field.kind.isText else {
        throw PersistenceError.invalidRequest(
          "“\(name)” of \(schema.name) has the kind \(field.kind.rawValue) and cannot be searched; search text"
        )
      }
      try patterns.add(try TextMatcher(search, needle, isCaseInsensitive: isCaseInsensitive))
      return self
    case .document(let name, let path, let condition):
      let field = try Self.field(name, in: schema, isOrdered: false)
      guard field.kind == .document else {
        throw PersistenceError.invalidRequest(
          "“\(name)” of \(schema.name) has the kind \(field.kind.rawValue), which has no parts and no elements; "
            + "compare the whole value")
      }
      return .document(field: name, path: path, try condition.validated(&patterns))
    case .related: throw PersistenceError.relationInRequest
    case .all(let nodes):
      return .all(try nodes.map { try $0.validated(for: schema, depth: depth + 1, &patterns) })
    case .any(let nodes):
      return .any(try nodes.map { try $0.validated(for: schema, depth: depth + 1, &patterns) })
    case .not(let node): return .not(try node.validated(for: schema, depth: depth + 1, &patterns))
    }
  }

  private static func field(_ name: String, in schema: ModelSchema, isOrdered: Bool) throws -> FieldSchema {
    let field = try schema.requiredField(named: name)
    guard !isOrdered || field.kind.isOrdered else {
      throw PersistenceError.invalidRequest(
        "“\(name)” of \(schema.name) is a document and has no order; compare it for equality only")
    }
    return field
  }

  private static func inOrder(_ values: [PersistentValue]) -> [PersistentValue] {
    let isInOrder = zip(values, values.dropFirst()).allSatisfy { $0 < $1 }
    if isInOrder { return values }
    var unique: [PersistentValue] = []
    unique.reserveCapacity(values.count)
    for value in values.sorted() where unique.last != value { unique.append(value) }
    return unique
  }

  /// Whether values are integers in order, as a list of keys that this package makes is.
  private static func areAscendingIntegers(_ values: [PersistentValue]) -> Bool {
    var last: Int64?
    for value in values {
      guard case .integer(let number) = value else { return false }
      if let last, last >= number { return false }
      last = number
    }
    return true
  }

  private static func checked(
    _ value: PersistentValue, for field: FieldSchema, in schema: ModelSchema
  ) throws -> PersistentValue {
    guard value.isNull || value.tag == field.kind.tag else {
      throw PersistenceError.invalidRequest(
        "“\(field.name)” of \(schema.name) has the kind \(field.kind.rawValue) and cannot be compared with "
          + "\(value.tag)"
      )
    }
    return value.normalized
  }
}
