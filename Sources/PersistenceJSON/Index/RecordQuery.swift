import PersistenceDriver
import PersistenceDriverSupport

/// A request whose conditions are split by their cost: the file name, the indexed values, or the whole
/// record.
struct RecordQuery {
  /// For more keys than this, listing the folder is cheaper.
  private static let keyLimit = 256

  let request: FetchRequest
  private let fields: IndexedFields
  private let keyNode: PredicateNode?
  private let keptNode: PredicateNode?
  private let residualNode: PredicateNode?

  /// Whether the order is that of the key, or its reverse.
  let isKeyOrder: Bool
  /// Whether all fields of the order are indexed.
  let isOrderKept: Bool
  /// The conditions on the key alone; nil for none.
  let onKey: CompiledPredicate?
  /// The other conditions on indexed values; nil for none.
  let onKept: CompiledPredicate?
  /// The conditions that need the whole record; nil for none.
  let residual: CompiledPredicate?
  /// All conditions; nil for none.
  let whole: CompiledPredicate?

  init(_ request: FetchRequest, _ fields: IndexedFields) throws {
    self.request = request
    self.fields = fields
    let schema = request.schema
    let key = Set(schema.key.map(StoredName.init))
    let order = request.totalOrder.map { StoredName($0.field) }
    isKeyOrder =
      order == schema.key.map(StoredName.init) && Set(request.totalOrder.map(\.isDescending)).count == 1
    isOrderKept = order.allSatisfy { schema.position(of: $0.text).map(fields.keeps) ?? false }

    var (onKey, onKept, residual): ([PredicateNode], [PredicateNode], [PredicateNode]) = ([], [], [])
    for term in request.predicateWithAnchor?.conjuncts ?? [] {
      if term.fields.allSatisfy({ key.contains(StoredName($0)) }) {
        onKey.append(term)
      } else if fields.keeps(term) {
        onKept.append(term)
      } else {
        residual.append(term)
      }
    }
    func compiled(_ node: PredicateNode?) throws -> CompiledPredicate? {
      try node.map { try CompiledPredicate($0, in: schema) }
    }
    keyNode = PredicateNode.conjunction(of: onKey)
    keptNode = PredicateNode.conjunction(of: onKept)
    residualNode = PredicateNode.conjunction(of: residual)
    self.onKey = try compiled(keyNode)
    self.onKept = try compiled(keptNode)
    self.residual = try compiled(residualNode)
    whole = try compiled(request.predicateWithAnchor)
  }

  /// The only keys that can match, ascending; nil if the conditions do not list them, or list too many.
  var keys: [RecordKey]? {
    var keys: [[PersistentValue]] = [[]]
    for name in request.schema.key {
      guard let values = values(of: StoredName(name)), keys.count * values.count <= Self.keyLimit else {
        return nil
      }
      keys = keys.flatMap { key in values.map { key + [$0] } }
    }
    return keys.map { RecordKey($0) }.sorted()
  }

  /// The distinct values of a key field that can match; nil if no condition lists them.
  private func values(of field: StoredName) -> [PersistentValue]? {
    for term in keyNode?.conjuncts ?? [] {
      switch term {
      case .comparison(let name, .equal, let value) where StoredName(name) == field:
        return value.isNull ? [] : [value]
      case .isIn(let name, let values) where StoredName(name) == field: return Array(Set(values))
      default: continue
      }
    }
    return nil
  }
}

extension RecordQuery {
  var plan: QueryPlan {
    let native = PredicateNode.conjunction(of: [keyNode, keptNode].compactMap { $0 })
    let access: QueryPlan.Access =
      if let index = index { .index(index.fields) } else { keyNode == nil ? .scan : .primaryKey }
    return QueryPlan(
      access: access, native: native?.shape, residual: residualNode?.shape,
      ordering: isKeyOrder ? .byAccess : .sorted)
  }

  /// The index with the longest prefix of fields in conditions, or else in the order.
  private var index: IndexSchema? {
    let isSortedByIndex = isOrderKept && !isKeyOrder
    guard keptNode != nil || isSortedByIndex else { return nil }
    let conditions = Set((keptNode?.fields ?? []).map(StoredName.init))
    let order = isSortedByIndex ? Set(request.totalOrder.map { StoredName($0.field) }) : []
    func worth(_ index: IndexSchema) -> (Int, Int) {
      let names = index.fields.map(StoredName.init)
      return (names.prefix { conditions.contains($0) }.count, names.prefix { order.contains($0) }.count)
    }
    func isUsed(_ index: IndexSchema) -> Bool {
      index.fields.contains { conditions.contains(StoredName($0)) || order.contains(StoredName($0)) }
    }
    var best: IndexSchema?
    for index in request.schema.indexes where isUsed(index) {
      if best.map({ worth($0) < worth(index) }) ?? true { best = index }
    }
    return best
  }
}
