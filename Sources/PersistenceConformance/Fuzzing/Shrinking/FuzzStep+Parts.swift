import PersistenceCore

extension FuzzStep {
  /// The step with its model, request, rows and keys put through closures; nil from the model's drops the step.
  func mapped(
    model change: (Int) -> Int? = { $0 }, query changeQuery: (FuzzQuery) -> FuzzQuery = { $0 },
    row changeRow: (Int, [PersistentValue]) -> [PersistentValue] = { $1 },
    key changeKey: (Int, [PersistentValue]) -> [PersistentValue] = { $1 }
  ) -> FuzzStep? {
    func put(_ model: Int, _ row: [PersistentValue], _ make: (Int, [PersistentValue]) -> FuzzStep)
      -> FuzzStep?
    {
      change(model).map { make($0, changeRow(model, row)) }
    }
    func ask(_ query: FuzzQuery, _ make: (FuzzQuery) -> FuzzStep) -> FuzzStep? {
      guard let model = change(query.model) else { return nil }
      var query = changeQuery(query)
      query.model = model
      return make(query)
    }
    switch self {
    case .define(let model): return change(model).map { .define($0) }
    case .insert(let model, let row): return put(model, row) { .insert($0, $1) }
    case .update(let model, let row): return put(model, row) { .update($0, $1) }
    case .save(let model, let row): return put(model, row) { .save($0, $1) }
    case .saveMany(let model, let rows):
      return change(model).map { .saveMany($0, rows.map { changeRow(model, $0) }) }
    case .delete(let model, let key): return change(model).map { .delete($0, changeKey(model, key)) }
    case .find(let model, let key): return change(model).map { .find($0, changeKey(model, key)) }
    case .deleteAll(let model): return change(model).map { .deleteAll($0) }
    case .deleteRows(let query): return ask(query) { .deleteRows($0) }
    case .fetch(let query): return ask(query) { .fetch($0) }
    case .read(let query, let runs): return ask(query) { .read($0, runs) }
    case .walk(let query, let pageSize): return ask(query) { .walk($0, pageSize: pageSize) }
    case .holdResult(let number, let query): return ask(query) { .holdResult(number, $0) }
    case .fetchHeld(let number, let query): return ask(query) { .fetchHeld(number, $0) }
    case .holdSnapshot, .readHeld, .release, .reopen: return self
    case .transaction(let steps, let ending):
      let steps = steps.compactMap {
        $0.mapped(model: change, query: changeQuery, row: changeRow, key: changeKey)
      }
      return .transaction(steps, ending)
    }
  }

  /// The step's request; nil where it has none.
  var query: FuzzQuery? {
    switch self {
    case .deleteRows(let query), .fetch(let query), .read(let query, _), .walk(let query, _),
      .holdResult(_, let query), .fetchHeld(_, let query):
      query
    default: nil
    }
  }
}

extension PredicateNode {
  /// Predicates that are one piece smaller: parts of this one, and this one without a part.
  var smaller: [PredicateNode] {
    switch self {
    case .constant, .comparison, .fieldComparison, .isBetween: return []
    case .text(let field, let search, let needle, let isCaseInsensitive):
      var scalars = Array(needle.unicodeScalars)
      guard !scalars.isEmpty, search != .matches else { return [] }
      scalars.removeLast()
      return [
        .text(
          field: field, search, String(String.UnicodeScalarView(scalars)),
          isCaseInsensitive: isCaseInsensitive)
      ]
    case .isIn(let field, let values):
      return values.indices.map { place in
        var fewer = values
        fewer.remove(at: place)
        return .isIn(field: field, fewer)
      }
    case .not(let node): return [node] + node.smaller.map { .not($0) }
    case .all(let nodes): return nodes + Self.smaller(nodes).map { .all($0) }
    case .any(let nodes): return nodes + Self.smaller(nodes).map { .any($0) }
    }
  }

  private static func smaller(_ nodes: [PredicateNode]) -> [[PredicateNode]] {
    nodes.indices.flatMap { place -> [[PredicateNode]] in
      var fewer = nodes
      fewer.remove(at: place)
      let replaced = nodes[place].smaller.map { node in
        var changed = nodes
        changed[place] = node
        return changed
      }
      return [fewer] + replaced
    }
  }

  /// The predicate with every value put through a closure.
  func mapValues(_ change: (PersistentValue) -> PersistentValue) -> PredicateNode {
    switch self {
    case .constant, .fieldComparison, .text: self
    case .comparison(let field, let comparison, let value):
      .comparison(field: field, comparison, change(value))
    case .isIn(let field, let values): .isIn(field: field, values.map(change))
    case .isBetween(let field, let lower, let upper):
      .isBetween(field: field, lower: change(lower), upper: change(upper))
    case .all(let nodes): .all(nodes.map { $0.mapValues(change) })
    case .any(let nodes): .any(nodes.map { $0.mapValues(change) })
    case .not(let node): .not(node.mapValues(change))
    }
  }

  /// The predicate with what reads a field replaced by true.
  func without(field name: String) -> PredicateNode {
    switch self {
    case .constant: return self
    case .comparison(let field, _, _), .isIn(let field, _), .isBetween(let field, _, _),
      .text(let field, _, _, _):
      return FuzzValue.isSameName(field, name) ? .constant(true) : self
    case .fieldComparison(let left, _, let right):
      return FuzzValue.isSameName(left, name) || FuzzValue.isSameName(right, name) ? .constant(true) : self
    case .all(let nodes): return .all(nodes.map { $0.without(field: name) })
    case .any(let nodes): return .any(nodes.map { $0.without(field: name) })
    case .not(let node): return .not(node.without(field: name))
    }
  }
}
