import Foundation
import PersistenceCore

extension FuzzShrinker {
  mutating func shrinkSchemas() {
    for model in best.program.schemas.indices.reversed() where best.program.schemas.count > 1 {
      attempt { $0.remove(model: model) }
    }
    for model in best.program.schemas.indices {
      for number in best.program.schemas[model].indexes.indices.reversed() {
        attempt { $0.remove(index: number, of: model) }
      }
      for field in best.program.schemas[model].fields.map(\.name).reversed() {
        attempt { $0.remove(field: field, of: model) }
      }
    }
  }

  mutating func shrinkQueries(at path: [Int] = []) {
    var place = 0
    while place < best.program.steps(at: path).count, !isSpent {
      let step = best.program.steps(at: path)[place]
      if case .transaction = step { shrinkQueries(at: path + [place]) }
      if step.query != nil {
        change(path, place) { $0.after = nil }
        change(path, place) { $0.limit = nil }
        change(path, place) { $0.offset = 0 }
        change(path, place) { $0.order = [] }
        change(path, place) { $0.predicate = nil }
        for number in (step.query?.order ?? []).indices.reversed() {
          guard let now = best.program.steps(at: path)[place].query, now.after == nil,
            number < now.order.count
          else { continue }
          change(path, place) { $0.order.remove(at: number) }
        }
        shrinkPredicate(path, place)
      }
      place += 1
    }
  }

  private mutating func shrinkPredicate(_ path: [Int], _ place: Int) {
    while !isSpent, let node = best.program.steps(at: path)[place].query?.predicate {
      let isSmaller = node.smaller.contains { smaller in change(path, place) { $0.predicate = smaller } }
      if !isSmaller { return }
    }
  }

  @discardableResult
  private mutating func change(_ path: [Int], _ place: Int, _ body: (inout FuzzQuery) -> Void) -> Bool {
    guard let query = best.program.steps(at: path)[place].query else { return false }
    var changed = query
    body(&changed)
    return attempt { program in
      program.editSteps(at: path) { steps in
        if let step = steps[place].mapped(query: { _ in changed }) { steps[place] = step }
      }
    }
  }

  mutating func shrinkValues() {
    var values: [PersistentValue] = []
    for step in best.program.steps {
      func collect(_: Int, _ more: [PersistentValue]) -> [PersistentValue] {
        for value in more where !values.contains(where: { FuzzValue.isSame($0, value) }) {
          values.append(value)
        }
        return more
      }
      _ = step.mapped(row: collect, values: collect)
    }
    for value in values {
      for plain in Self.plainer(than: value) {
        if isSpent { return }
        if attempt({ $0.replace(value, by: plain) }) { break }
      }
    }
  }

  private static func plainer(than value: PersistentValue) -> [PersistentValue] {
    let candidates: [PersistentValue] =
      switch value {
      case .null: []
      case .bool: [.bool(false)]
      case .integer: [.integer(0), .integer(1), .integer(2)]
      case .double: [.double(0), .double(1), .double(2)]
      case .text: [.text(""), .text("a"), .text("b")]
      case .bytes: [.bytes([]), .bytes([1])]
      case .date: [.date(0), .date(1)]
      case .uuid: [FuzzGenerator.id(0), FuzzGenerator.id(1)]
      case .decimal: [.decimal(0), .decimal(1)]
      case .document: [.document("null"), .document("1")]
      }
    // Skips simple values, because replacing them would never end.
    return Array(candidates.prefix { !FuzzValue.isSame($0, value) })
  }
}

extension FuzzProgram {
  mutating func remove(model: Int) {
    schemas.remove(at: model)
    steps = steps.compactMap { $0.mapped(model: { $0 == model ? nil : ($0 > model ? $0 - 1 : $0) }) }
  }

  mutating func remove(index number: Int, of model: Int) {
    guard number < schemas[model].indexes.count else { return }
    let index = schemas[model].indexes[number]
    for place in siblings(of: model) {
      let schema = schemas[place]
      change(place, fields: schema.fields, indexes: schema.indexes.filter { $0 != index })
    }
  }

  /// Removes a field that is no key, from the same model's other declarations, rows, requests and changes too.
  mutating func remove(field name: String, of model: Int) {
    for (place, position) in related(to: name, of: model).sorted(by: { $0.position > $1.position }) {
      remove(position, of: place)
    }
  }

  private mutating func remove(_ position: Int, of place: Int) {
    let schema = schemas[place]
    let name = schema.fields[position].name
    var fields = schema.fields
    fields.remove(at: position)
    change(
      place, fields: fields,
      indexes: schema.indexes.filter { !$0.fields.contains { FuzzValue.isSameName($0, name) } })
    steps = steps.compactMap { step in
      step.mapped(
        query: { query in query.model == place ? query.without(field: name) : query },
        row: { model, row in
          guard model == place, position < row.count else { return row }
          var row = row
          row.remove(at: position)
          return row
        },
        step: { step in
          if case .evolve(let model, let change) = step {
            return .evolve(model, change.without(position, of: place, isStored: model == place))
          }
          return step.query?.model == place ? step.without(field: name, at: position) : step
        })
    }
  }

  /// Returns the places of a field: in all declarations of the model, and before and after changes of schema.
  ///
  /// Key fields are not among them.
  private func related(to name: String, of model: Int) -> [(model: Int, position: Int)] {
    var places: [(model: Int, position: Int)] = []
    func add(_ model: Int, _ name: String) {
      for model in siblings(of: model) {
        let schema = schemas[model]
        guard let position = FuzzReference.position(of: name, in: schema.fields),
          !schema.key.contains(where: { FuzzValue.isSameName($0, name) }),
          !places.contains(where: { $0 == (model, position) })
        else { continue }
        places.append((model, position))
      }
    }
    add(model, name)
    let changes = changes
    var done = 0
    while done < places.count {
      let (model, position) = places[done]
      for (stored, change) in changes {
        for (field, source) in zip(schemas[change.target].fields, change.sources) {
          let fields = schemas[stored].fields
          guard let origin = source.position, fields.indices.contains(origin) else { continue }
          if stored == model, origin == position { add(change.target, field.name) }
          guard change.target == model,
            FuzzValue.isSameName(field.name, schemas[model].fields[position].name), case .field = source
          else { continue }
          add(stored, fields[origin].name)
        }
      }
      done += 1
    }
    return places
  }

  mutating func replace(_ value: PersistentValue, by plain: PersistentValue) {
    func replaced(_ other: PersistentValue) -> PersistentValue {
      FuzzValue.isSame(other, value) ? plain : other
    }
    steps = steps.compactMap { step in
      step.mapped(
        query: { query in
          var query = query
          query.predicate = query.predicate?.mapValues(replaced)
          query.after = query.after?.map(replaced)
          return query
        }, row: { $1.map(replaced) }, values: { $1.map(replaced) })
    }
  }

  private func siblings(of model: Int) -> [Int] {
    schemas.indices.filter { FuzzValue.isSameName(schemas[$0].name, schemas[model].name) }
  }

  private mutating func change(_ model: Int, fields: [FieldSchema], indexes: [IndexSchema]) {
    let schema = schemas[model]
    guard let changed = try? ModelSchema(name: schema.name, fields: fields, key: schema.key, indexes: indexes)
    else { return }
    schemas[model] = changed
  }
}

extension FuzzQuery {
  fileprivate func without(field name: String) -> FuzzQuery {
    var query = self
    query.predicate = predicate?.without(field: name)
    query.order = order.filter { !FuzzValue.isSameName($0.field, name) }
    if query.order.count < order.count { query.after = nil }
    return query
  }
}
