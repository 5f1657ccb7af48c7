import PersistenceDriver

/// A statement to run: the parts of its key, and the bindings of its parameters.
///
/// A cache finds the prepared statement by the parts as they are. Only a statement of a new shape copies them to a
/// ``StatementKey``.
package struct SQLStatement: Sendable {
  package let hash: UInt64
  /// Whether caches neither give the statement nor keep it.
  package let isPlannedAnew: Bool

  private let head, counts: UInt64
  private let order: [UInt64]
  private let items: [SQLItem]
  private let predicate: LoweredPredicate
  private let seek: LoweredPredicate?
  /// The values that the statement sets, which are bound first.
  private let values: [PersistentValue]
  /// The parameters that limit the statement to a page, which are bound last.
  private let limit, offset: Int64?

  init(
    _ kind: StatementKey.Kind, model: UInt32, order: [UInt64], items: [SQLItem], values: [PersistentValue],
    predicate: LoweredPredicate, seek: LoweredPredicate?, limit: Int64?, offset: Int64?, isPlannedAnew: Bool
  ) {
    var page: StatementKey.Page = []
    if limit != nil { page.insert(.limit) }
    if offset != nil { page.insert(.offset) }
    head = StatementKey.head(kind, model, page.rawValue)
    counts = StatementKey.counts(order: order.count, items: items.count, predicate: predicate.opcodes.count)
    self.order = order
    self.items = items
    self.values = values
    self.predicate = predicate
    self.seek = seek
    self.limit = limit
    self.offset = offset
    self.isPlannedAnew = isPlannedAnew
    var hash = StatementHash()
    Self.forEachWord(head, counts, order, items, predicate, seek) { hash.mix($0) }
    self.hash = hash.value
  }

  /// The key of the statement's text, for a cache that does not have it yet.
  package var key: StatementKey { StatementKey(self) }

  /// Whether a key is that of the statement.
  package func matches(_ key: StatementKey) -> Bool {
    guard key.hash == hash, key.words.count == wordCount else { return false }
    return key.words.withUnsafeBufferPointer { words in
      var index = 0
      var isEqual = true
      forEachWord { word in
        isEqual = isEqual && words[index] == word
        index += 1
      }
      return isEqual
    }
  }

  var wordCount: Int {
    2 + order.count + items.count + predicate.opcodes.count + (seek?.opcodes.count ?? 0)
  }

  @inline(__always)
  func forEachWord(_ body: (UInt64) -> Void) {
    Self.forEachWord(head, counts, order, items, predicate, seek, body)
  }

  @inline(__always)
  private static func forEachWord(
    _ head: UInt64, _ counts: UInt64, _ order: [UInt64], _ items: [SQLItem], _ predicate: LoweredPredicate,
    _ seek: LoweredPredicate?, _ body: (UInt64) -> Void
  ) {
    body(head)
    body(counts)
    for word in order { body(word) }
    for item in items { body(item.rawValue) }
    for opcode in predicate.opcodes { body(opcode.rawValue) }
    if let seek { for opcode in seek.opcodes { body(opcode.rawValue) } }
  }
}

extension SQLStatement {
  /// Calls a closure with the binding of each parameter, in the order of the parameters.
  @inline(__always)
  package func forEachBinding(_ body: (SQLBinding) throws -> Void) rethrows {
    for value in values { try body(.value(value)) }
    for binding in predicate.bindings { try body(binding) }
    if let seek { for binding in seek.bindings { try body(binding) } }
    if let limit { try body(.count(limit)) }
    if let offset { try body(.count(offset)) }
  }

  /// The bindings, in the order of the parameters.
  package var bindings: [SQLBinding] {
    var bindings: [SQLBinding] = []
    forEachBinding { bindings.append($0) }
    return bindings
  }
}

/// Everything that determines a statement's text: statements with equal keys differ only in their bindings.
package struct StatementKey: Equatable, Sendable {
  package enum Kind: UInt8, Sendable, CaseIterable {
    /// The rows of a request, in order: the fields of the items, or all fields if there are no items.
    case rows
    /// The fields of a request's order, for each row.
    case orderKeys
    /// The row IDs of a request's rows, or their keys where rows have no IDs.
    case rowIDs
    case count
    /// How many rows match a condition, up to a limit.
    case countUpTo
    /// Aggregates over the rows that match a condition, or over a page of them.
    case aggregates, aggregatesOfPage
    /// Deletes the rows that match a condition.
    case delete
    /// Deletes a page of such rows.
    case deletePage
    /// Sets fields of the rows that match a condition, or of a page of them.
    case set, setPage
    /// One row by its key.
    case find
    /// One row by its row ID: the fields of the items, or all fields if there are no items.
    case rowByID
    /// Writes one row; parameter `n` is the field at position `n − 1`.
    case insert, update, save
    /// Deletes one row by its key.
    case deleteKey
    case deleteAll
    /// The key of the row that holds given values in a unique index.
    case holder
    /// Writes one row, unless it collides with another one.
    case insertIfAbsent
  }

  /// A header, then the order, the items, the condition and the seek.
  package let words: [UInt64]

  package let hash: UInt64

  package static func == (left: StatementKey, right: StatementKey) -> Bool {
    left.hash == right.hash && left.words == right.words
  }

  private static func hash(_ words: [UInt64]) -> UInt64 {
    var hash = StatementHash()
    for word in words { hash.mix(word) }
    return hash.value
  }

  /// The key of a statement without a condition or an order; the index is that of ``Kind/holder``.
  package init(_ kind: Kind, model: UInt32, index: Int = 0, items: [SQLItem] = []) {
    var words = [Self.head(kind, model, UInt64(UInt16(truncatingIfNeeded: index)))]
    if !items.isEmpty {
      words.append(Self.counts(order: 0, items: items.count, predicate: 0))
      for item in items { words.append(item.rawValue) }
    }
    self.words = words
    hash = Self.hash(words)
  }

  /// The key of a statement that no cache knows.
  init(_ statement: SQLStatement) {
    var words: [UInt64] = []
    words.reserveCapacity(statement.wordCount)
    statement.forEachWord { words.append($0) }
    self.words = words
    hash = statement.hash
  }

  /// The parameters that limit a statement to a page.
  struct Page: OptionSet {
    let rawValue: UInt64
    static let offset = Page(rawValue: 1)
    static let limit = Page(rawValue: 2)
  }

  static func counts(order: Int, items: Int, predicate: Int) -> UInt64 {
    UInt64(order) << 48 | UInt64(items) << 32 | UInt64(predicate)
  }

  static func head(_ kind: Kind, _ model: UInt32, _ argument: UInt64) -> UInt64 {
    UInt64(kind.rawValue) | argument << 8 | UInt64(model) << 32
  }

  package var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: words[0])) ?? .count }
  package var model: UInt32 { UInt32(truncatingIfNeeded: words[0] >> 32) }
  var argument: Int { Int(UInt16(truncatingIfNeeded: words[0] >> 8)) }
  var page: Page { Page(rawValue: UInt64(argument)) }

  private var orderCount: Int { words.count > 1 ? Int(words[1] >> 48) : 0 }
  private var itemCount: Int { words.count > 1 ? Int(UInt16(truncatingIfNeeded: words[1] >> 32)) : 0 }
  private var predicateCount: Int { words.count > 1 ? Int(UInt32(truncatingIfNeeded: words[1])) : 0 }

  var order: [(position: Int, isDescending: Bool)] {
    words.dropFirst(2).prefix(orderCount).map { (Int($0 >> 1), $0 & 1 == 1) }
  }

  /// What the statement yields, or sets.
  var items: [SQLItem] {
    words.dropFirst(2 + orderCount).prefix(itemCount).map(SQLItem.init(rawValue:))
  }

  var predicate: [PredicateOpcode] {
    words.dropFirst(2 + orderCount + itemCount).prefix(predicateCount).map(PredicateOpcode.init(rawValue:))
  }

  /// The condition that rows come after a position; empty where there is none.
  var seek: [PredicateOpcode] {
    words.dropFirst(2 + orderCount + itemCount + predicateCount).map(PredicateOpcode.init(rawValue:))
  }
}

/// The hash of a statement's words, mixed one after the other with the constants of SplitMix64.
struct StatementHash {
  private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

  @inline(__always)
  mutating func mix(_ word: UInt64) {
    value = (value ^ word) &* 0xBF58_476D_1CE4_E5B9
    value ^= value >> 27
  }
}

/// A result of a statement, or a field that it sets.
package struct SQLItem: Hashable, Sendable {
  package enum Operation: UInt8, Sendable {
    /// The field itself.
    case field
    case count
    /// How many rows have a value in the field.
    case countOfValues
    case minimum, maximum
    /// The sum of integers; nil where there are no values.
    case sum
  }

  package let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  /// An item over the field at a position.
  package init(_ operation: Operation, _ position: Int = 0) {
    rawValue = UInt64(operation.rawValue) | UInt64(position) << 8
  }

  package var operation: Operation { Operation(rawValue: UInt8(truncatingIfNeeded: rawValue)) ?? .field }
  package var position: Int { Int(rawValue >> 8) }
}

/// One opcode of a lowered condition: an operation and the positions of the fields that it reads.
///
/// Conditions are in negation normal form. Negations are pushed down to the comparisons and written so that they
/// are true for NULL: SQL's UNKNOWN is never negated, and indexes stay usable.
package struct PredicateOpcode: Hashable, Sendable {
  package enum Operation: UInt8, Sendable {
    case never, always
    /// The conjunction or disjunction of the ``PredicateOpcode/count`` conditions that follow.
    case all, any
    case isNull, isNotNull
    /// Comparisons with a value that is not nil.
    case equal, notEqual
    case less, lessOrEqual, greater, greaterOrEqual
    case isBetween, isNotBetween
    /// Membership in a list, each of whose values is greater than the one before if ``PredicateOpcode/other`` is 1.
    case isIn, isNotIn
    case textMatches, textDoesNotMatch
    case fieldEqual, fieldNotEqual, fieldLess, fieldLessOrEqual, fieldGreater, fieldGreaterOrEqual
    /// A call of the evaluator over the ``PredicateOpcode/count`` fields that follow.
    case evaluated
    /// A field that the evaluator reads.
    case field
    /// The field matches a pattern of `LIKE`; not, if ``PredicateOpcode/other`` is 1.
    case isLike, isLikeInAnyCase
  }

  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// An opcode over one field or two; `orNull` makes it also true where a field is nil, as a negated comparison is.
  package init(_ operation: Operation, _ field: Int = 0, _ other: Int = 0, orNull: Bool = false) {
    rawValue =
      UInt64(operation.rawValue) | (orNull ? 1 << 8 : 0) | UInt64(UInt16(truncatingIfNeeded: field)) << 16
      | UInt64(UInt16(truncatingIfNeeded: other)) << 32
  }

  /// An opcode that a number of operands follow.
  package init(_ operation: Operation, count: Int) {
    rawValue = UInt64(operation.rawValue) | UInt64(UInt32(truncatingIfNeeded: count)) << 16
  }

  package var operation: Operation { Operation(rawValue: UInt8(truncatingIfNeeded: rawValue)) ?? .never }
  package var orNull: Bool { rawValue & 1 << 8 != 0 }
  package var field: Int { Int(UInt16(truncatingIfNeeded: rawValue >> 16)) }
  package var other: Int { Int(UInt16(truncatingIfNeeded: rawValue >> 32)) }
  package var count: Int { Int(UInt32(truncatingIfNeeded: rawValue >> 16)) }
}
