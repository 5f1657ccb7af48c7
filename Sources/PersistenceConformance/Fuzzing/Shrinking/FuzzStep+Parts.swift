import PersistenceCore

extension FuzzStep {
  /// Returns the step with its parts changed by closures; nil for the model drops the step.
  ///
  /// `changeValues` changes a key, or the assigned values, one for one. `changeStep` changes each step other
  /// than a transaction, last.
  func mapped(
    model change: (Int) -> Int? = { $0 }, query changeQuery: (FuzzQuery) -> FuzzQuery = { $0 },
    row changeRow: (Int, [PersistentValue]) -> [PersistentValue] = { $1 },
    values changeValues: (Int, [PersistentValue]) -> [PersistentValue] = { $1 },
    step changeStep: (FuzzStep) -> FuzzStep = { $0 }
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
    let changed: FuzzStep?
    switch self {
    case .define(let model): changed = change(model).map { .define($0) }
    case .evolve(let model, let evolution):
      let values = changeValues(model, evolution.values)
      guard let model = change(model), let target = change(evolution.target) else { return nil }
      var evolution = evolution.replacingValues(by: values)
      evolution.target = target
      changed = .evolve(model, evolution)
    case .insert(let model, let row): changed = put(model, row) { .insert($0, $1) }
    case .update(let model, let row): changed = put(model, row) { .update($0, $1) }
    case .save(let model, let row): changed = put(model, row) { .save($0, $1) }
    case .saveMany(let model, let rows):
      changed = change(model).map { .saveMany($0, rows.map { changeRow(model, $0) }) }
    case .delete(let model, let key): changed = change(model).map { .delete($0, changeValues(model, key)) }
    case .find(let model, let key): changed = change(model).map { .find($0, changeValues(model, key)) }
    case .deleteAll(let model): changed = change(model).map { .deleteAll($0) }
    case .deleteRows(let query): changed = ask(query) { .deleteRows($0) }
    case .updateRows(let query, let assignments):
      let values = changeValues(query.model, assignments.map(\.value))
      let set = zip(assignments, values).map { FieldAssignment($0.field, $1) }
      changed = ask(query) { .updateRows($0, set: set) }
    case .fetch(let query): changed = ask(query) { .fetch($0) }
    case .read(let query, let runs): changed = ask(query) { .read($0, runs) }
    case .pages(let query, let pageSize): changed = ask(query) { .pages($0, pageSize: pageSize) }
    case .sorted(let query, let related, let isDescending, let pageSize):
      changed = ask(query) { .sorted($0, by: related, isDescending: isDescending, pageSize: pageSize) }
    case .collection(let query, let pageSize, let part):
      changed = ask(query) { .collection($0, pageSize: pageSize, part: part) }
    case .select(let query, let positions, let number):
      changed = ask(query) { .select($0, positions: positions, snapshot: number) }
    case .aggregate(let query, let grouping, let aggregates, let number):
      changed = ask(query) { .aggregate($0, by: grouping, aggregates, snapshot: number) }
    case .holdResult(let number, let query): changed = ask(query) { .holdResult(number, $0) }
    case .fetchHeld(let number, let query): changed = ask(query) { .fetchHeld(number, $0) }
    case .holdSnapshot, .readHeld, .release, .reopen: changed = self
    case .declared(let words, let step):
      return step.mapped(
        model: change, query: changeQuery, row: changeRow, values: changeValues, step: changeStep
      ).map { .declared(words, $0) }
    case .interrupted(let step, let check):
      return step.mapped(
        model: change, query: changeQuery, row: changeRow, values: changeValues, step: changeStep
      ).map { .interrupted($0, atCheck: check) }
    case .transaction(let steps, let ending):
      let steps = steps.compactMap {
        $0.mapped(model: change, query: changeQuery, row: changeRow, values: changeValues, step: changeStep)
      }
      return .transaction(steps, ending)
    }
    return changed.map(changeStep)
  }

  var query: FuzzQuery? {
    switch self {
    case .deleteRows(let query), .updateRows(let query, _), .fetch(let query), .read(let query, _),
      .pages(let query, _), .sorted(let query, _, _, _), .collection(let query, _, _),
      .select(let query, _, _),
      .aggregate(let query, _, _, _), .holdResult(_, let query), .fetchHeld(_, let query):
      query
    case .declared(_, let step), .interrupted(let step, _): step.query
    default: nil
    }
  }

  /// The model of a read or a write of one model.
  var model: Int? {
    switch self {
    case .insert(let model, _), .update(let model, _), .save(let model, _), .delete(let model, _),
      .deleteAll(let model), .find(let model, _), .define(let model):
      model
    case .interrupted(let step, _): step.model
    default: query?.model
    }
  }

  /// Returns the step without one assignment, selection, group or aggregate, or one it reads from the store.
  var smaller: [FuzzStep] {
    switch self {
    case .updateRows(let query, let assignments):
      return Self.fewer(assignments).map { .updateRows(query, set: $0) }
    case .select(let query, let positions, let number):
      return (number == nil ? [] : [.select(query, positions: positions)])
        + Self.fewer(positions).map { .select(query, positions: $0, snapshot: number) }
    case .aggregate(let query, let grouping, let aggregates, let number):
      return (number == nil ? [] : [.aggregate(query, by: grouping, aggregates)])
        + Self.fewer(grouping).map { .aggregate(query, by: $0, aggregates, snapshot: number) }
        + Self.fewer(aggregates).map { .aggregate(query, by: grouping, $0, snapshot: number) }
    case .evolve(let model, let change):
      return change.sources.indices.compactMap { place in
        var smaller = change
        switch change.sources[place] {
        case .computed(.text), .computed(.length): smaller.sources[place] = .computed(.byKey)
        case .field(let position, .some): smaller.sources[place] = .field(position)
        case .field, .fill, .computed: return nil
        }
        return .evolve(model, smaller)
      }
    case .interrupted(let step, let check): return step.smaller.map { .interrupted($0, atCheck: check) }
    case .declared(let words, let step) where words.past != nil:
      return step.smaller.map { .declared(words, $0) }
    case .declared(let words, let step):
      return [step] + Self.fewer(words.fields).map { .declared(FuzzWords(was: words.formerName, $0), step) }
        + step.smaller.map { .declared(words, $0) }
    default: return []
    }
  }

  /// Returns the step without a removed field, apart from its request and rows.
  func without(field name: String, at position: Int) -> FuzzStep {
    switch self {
    case .updateRows(let query, let assignments):
      return .updateRows(query, set: assignments.filter { !FuzzValue.isSameName($0.field, name) })
    case .select(let query, let positions, let number):
      let rest = positions.filter { $0 != position }.map { $0 > position ? $0 - 1 : $0 }
      return .select(query, positions: rest, snapshot: number)
    case .aggregate(let query, let grouping, let aggregates, let number):
      return .aggregate(
        query, by: grouping.filter { !FuzzValue.isSameName($0, name) },
        aggregates.filter { aggregate in aggregate.field.map { !FuzzValue.isSameName($0, name) } ?? true },
        snapshot: number)
    default: return self
    }
  }

  fileprivate static func fewer<Element>(_ elements: [Element]) -> [[Element]] {
    elements.indices.reversed().map { place in
      var rest = elements
      rest.remove(at: place)
      return rest
    }
  }
}

extension PredicateNode {
  /// Returns predicates that are one piece smaller: parts of this one, and this one without a part.
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
    case .document(let field, let path, let condition):
      return path.isEmpty ? [] : [.document(field: field, path: path.dropLast(), condition)]
    case .isIn(let field, let values):
      return FuzzStep.fewer(values).reversed().map { .isIn(field: field, $0) }
    case .related(var relation):
      return relation.condition.smaller.map { condition in
        relation.condition = condition
        return .related(relation)
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

  /// Returns the predicate with every value changed by a closure.
  func mapValues(_ change: (PersistentValue) -> PersistentValue) -> PredicateNode {
    switch self {
    case .constant, .fieldComparison, .text, .document: self
    case .comparison(let field, let comparison, let value):
      .comparison(field: field, comparison, change(value))
    case .isIn(let field, let values): .isIn(field: field, values.map(change))
    case .isBetween(let field, let lower, let upper):
      .isBetween(field: field, lower: change(lower), upper: change(upper))
    case .related(let relation):
      .related(
        RelatedCondition(
          relation.side, field: relation.field, model: relation.model, relation.condition.mapValues(change)))
    case .all(let nodes): .all(nodes.map { $0.mapValues(change) })
    case .any(let nodes): .any(nodes.map { $0.mapValues(change) })
    case .not(let node): .not(node.mapValues(change))
    }
  }

  /// Returns the predicate with each use of a field replaced by true.
  func without(field name: String) -> PredicateNode {
    switch self {
    case .constant: return self
    case .comparison(let field, _, _), .isIn(let field, _), .isBetween(let field, _, _),
      .text(let field, _, _, _), .document(let field, _, _):
      return FuzzValue.isSameName(field, name) ? .constant(true) : self
    case .fieldComparison(let left, _, let right):
      return FuzzValue.isSameName(left, name) || FuzzValue.isSameName(right, name) ? .constant(true) : self
    case .related(let relation):
      return relation.side == .target && FuzzValue.isSameName(relation.field, name) ? .constant(true) : self
    case .all(let nodes): return .all(nodes.map { $0.without(field: name) })
    case .any(let nodes): return .any(nodes.map { $0.without(field: name) })
    case .not(let node): return .not(node.without(field: name))
    }
  }
}
