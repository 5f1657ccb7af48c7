/// All that decides a statement's text: equal shapes have equal texts, whatever is bound to them.
package struct StatementKey: Equatable, Sendable {
  /// What a statement does.
  package enum Kind: UInt8, Sendable, CaseIterable {
    /// Rows of a request, in order: the fields of its items, or all of them where it has none.
    case rows
    /// The fields of a request's order only.
    case orderKeys
    /// The row numbers of a request's rows, or their keys where rows have no numbers.
    case locators
    /// How many rows a condition has.
    case count
    /// How many rows a condition has, counting no further than a limit.
    case countUpTo
    /// Values computed over the rows of a condition, and over those of a request with an order and a page.
    case aggregates, aggregatesOfChosen
    /// Deletes the rows of a condition.
    case delete
    /// Deletes the rows of a request with an order and a page.
    case deleteChosen
    /// Sets fields of the rows of a condition, and of those of a request with an order and a page.
    case set, setChosen
    /// One row by its key.
    case find
    /// One row by its number: the fields of its items, or all of them where it has none.
    case rowAtLocator
    /// Writes of one row; parameter `n` is the field at position `n − 1`.
    case insert, update, save
    /// Deletes one row by its key.
    case deleteKey
    /// Deletes all rows.
    case deleteAll
    /// The key of the row that has certain values in an index.
    case holder
  }

  /// The words: a head, then the order, the items, the condition and the place after which rows are wanted.
  package let words: [UInt64]

  /// Equal for equal shapes, and seldom for others.
  package let hash: UInt64

  package static func == (left: StatementKey, right: StatementKey) -> Bool {
    left.hash == right.hash && left.words == right.words
  }

  /// Mixes words one after the other (the constants of SplitMix64).
  private static func hash(_ words: [UInt64]) -> UInt64 {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
    for word in words {
      hash = (hash ^ word) &* 0xBF58_476D_1CE4_E5B9
      hash ^= hash >> 27
    }
    return hash
  }

  /// The shape of a statement on a model that asks for nothing but its kind.
  ///
  /// - Parameters:
  ///   - kind: What it does.
  ///   - model: The number of the model's table, as the engine counts them.
  ///   - index: The position of the index that it is about.
  ///   - items: What it yields.
  package init(_ kind: Kind, model: UInt32, index: Int = 0, items: [SQLItem] = []) {
    var words = [Self.head(kind, model, UInt64(UInt16(truncatingIfNeeded: index)))]
    if !items.isEmpty {
      words.append(Self.counts(order: 0, items: items.count, predicate: 0))
      for item in items { words.append(item.rawValue) }
    }
    self.words = words
    hash = Self.hash(words)
  }

  init(
    _ kind: Kind, model: UInt32, page: Page, order: [UInt64], items: [SQLItem], predicate: LoweredPredicate,
    place: LoweredPredicate?
  ) {
    var words: [UInt64] = []
    words.reserveCapacity(
      2 + order.count + items.count + predicate.words.count + (place?.words.count ?? 0))
    words.append(Self.head(kind, model, page.rawValue))
    words.append(Self.counts(order: order.count, items: items.count, predicate: predicate.words.count))
    words.append(contentsOf: order)
    for item in items { words.append(item.rawValue) }
    for word in predicate.words { words.append(word.rawValue) }
    if let place { for word in place.words { words.append(word.rawValue) } }
    self.words = words
    hash = Self.hash(words)
  }

  /// Which numbers a statement is given to cut its rows to a page.
  struct Page: OptionSet {
    let rawValue: UInt64
    static let offset = Page(rawValue: 1)
    static let limit = Page(rawValue: 2)
  }

  private static func counts(order: Int, items: Int, predicate: Int) -> UInt64 {
    UInt64(order) << 48 | UInt64(items) << 32 | UInt64(predicate)
  }

  private static func head(_ kind: Kind, _ model: UInt32, _ argument: UInt64) -> UInt64 {
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

  /// The condition that rows come after a place; empty where there is none.
  var place: [PredicateOpcode] {
    words.dropFirst(2 + orderCount + itemCount + predicateCount).map(PredicateOpcode.init(rawValue:))
  }
}
