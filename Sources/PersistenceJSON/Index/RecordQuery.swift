import PersistenceDriver
import PersistenceDriverSupport

/// A request, taken apart by what it takes to decide it: the file's name, the values that the index keeps, or the
/// whole record.
struct RecordQuery {
  /// More keys than this are looked up by listing the folder.
  private static let keyLimit = 256

  let request: FetchRequest
  private let fields: IndexedFields
  /// The conditions on the key alone.
  private let keyNode: PredicateNode?
  /// The conditions on kept values.
  private let keptNode: PredicateNode?
  /// The other conditions.
  private let residualNode: PredicateNode?

  /// Whether the order is that of the keys, or its reverse.
  let isKeyOrder: Bool
  /// Whether all fields of the order are kept.
  let isOrderKept: Bool
  /// The conditions that a key decides; nil for none.
  let onKey: CompiledPredicate?
  /// The conditions that kept values decide; nil for none beyond those on the key.
  let onKept: CompiledPredicate?
  /// The conditions that take the whole record; nil for none.
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
    for term in Self.terms(of: request.predicateWithAnchor) {
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
    keyNode = Self.joined(onKey)
    keptNode = Self.joined(onKept)
    residualNode = Self.joined(residual)
    self.onKey = try compiled(keyNode)
    self.onKept = try compiled(keptNode)
    self.residual = try compiled(residualNode)
    whole = try compiled(request.predicateWithAnchor)
  }

  /// The conditions that all have to hold.
  private static func terms(of node: PredicateNode?) -> [PredicateNode] {
    switch node {
    case nil: []
    case .all(let nodes): nodes.flatMap { terms(of: $0) }
    case .some(let node): [node]
    }
  }

  /// The keys that the conditions leave, ascending, where they name all fields' values and not too many; nil where
  /// others may fit.
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

  /// The values that a condition leaves of a key's field, each once.
  private func values(of field: StoredName) -> [PersistentValue]? {
    for term in Self.terms(of: keyNode) {
      switch term {
      case .comparison(let name, .equal, let value) where StoredName(name) == field:
        return value.isNull ? [] : [value]
      case .isIn(let name, let values) where StoredName(name) == field: return Array(Set(values))
      default: continue
      }
    }
    return nil
  }

  private static func joined(_ terms: [PredicateNode]) -> PredicateNode? {
    terms.count > 1 ? .all(terms) : terms.first
  }
}

extension RecordQuery {
  /// How the request is answered.
  var plan: QueryPlan {
    let native = Self.joined([keyNode, keptNode].compactMap { $0 })
    let access: QueryPlan.Access =
      if let index = index { .index(index.fields) } else { keyNode == nil ? .scan : .primaryKey }
    return QueryPlan(
      access: access, native: native?.shape, residual: residualNode?.shape,
      ordering: isKeyOrder ? .byAccess : .sorted)
  }

  /// The index whose values decide most: of its first fields, as many as possible are in conditions, or in the order.
  private var index: IndexSchema? {
    let isSortedByIndex = isOrderKept && !isKeyOrder
    guard keptNode != nil || isSortedByIndex else { return nil }
    let conditions = Set((keptNode?.fields ?? []).map(StoredName.init))
    let order = isSortedByIndex ? Set(request.totalOrder.map { StoredName($0.field) }) : []
    func worth(_ index: IndexSchema) -> (Int, Int) {
      let names = index.fields.map(StoredName.init)
      return (
        names.prefix { conditions.contains($0) }.count, names.prefix { order.contains($0) }.count
      )
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
