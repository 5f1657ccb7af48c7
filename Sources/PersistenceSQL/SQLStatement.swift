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
