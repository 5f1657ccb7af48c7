import PersistenceDriver
import PersistencePrimitives

extension KeepingTransaction {
  /// The number of keys that one request names.
  static let chunk = 1_000

  /// Applies the delete rules of the references to deleted records, and of what follows (contract L2).
  ///
  /// A chain of any length takes no stack, and a wide one holds a chunk of keys for each level.
  func follow(_ keys: [PersistentValue], _ target: StoredName) throws {
    var work = [(keys: keys, target: target)]
    while let item = work.popLast() {
      var deleted: [(keys: [PersistentValue], target: StoredName)] = []
      for reference in try map.references(to: item.target) {
        guard let schema = try wrapped.schema(named: reference.model),
          schema.position(of: reference.field) != nil
        else { continue }
        let referring = try FetchRequest(schema, where: .isIn(field: reference.field, item.keys))
        switch reference.effect(of: reference.rule, in: schema) {
        case .restrict:
          for key in try referredKeys(among: item.keys, reference, schema) { notes.add(key, of: item.target) }
        case .setNil: _ = try wrapped.update(UpdateRequest(referring, set: [.init(reference.field, .null)]))
        case .cascade:
          let model = StoredName(reference.model)
          guard try !map.references(to: model).isEmpty else {
            _ = try wrapped.delete(referring)
            continue
          }
          let some = try firstKeys(of: referring, inOrderOf: reference.field)
          guard !some.isEmpty else { continue }
          _ = try wrapped.delete(FetchRequest(schema, where: .isIn(field: schema.key[0], some)))
          if some.count == Self.chunk { deleted.append(item) }
          deleted.append((some, model))
        }
      }
      work += deleted
    }
  }

  /// Those of some keys that a record refers to.
  private func referredKeys(
    among keys: [PersistentValue], _ reference: StoredReference, _ schema: ModelSchema
  ) throws -> [PersistentValue] {
    let field = reference.field
    // Many records may refer to a single key, of which one is enough.
    if keys.count == 1 {
      let some = try FetchRequest(schema, where: .comparison(field: field, .equal, keys[0]), limit: 1)
      return try wrapped.count(some) > 0 ? keys : []
    }
    let request = try FetchRequest(schema, where: .isIn(field: field, keys))
    return try wrapped.aggregate(AggregateRequest(request, grouping: [field], aggregates: [])).map {
      $0.key[0]
    }
  }

  /// The first keys of a request's rows, of a model with a single key field.
  ///
  /// The index of the reference has its order, so that the limit ends the scan.
  private func firstKeys(of request: FetchRequest, inOrderOf field: String) throws -> [PersistentValue] {
    var keys: [PersistentValue] = []
    let some = try FetchRequest(
      request.schema, where: request.predicate, order: [FieldOrder(field)], limit: Self.chunk)
    _ = try wrapped.fetch(some, selecting: request.schema.keyPositions).read(from: 0, limit: Self.chunk) {
      keys.append(try $0.value(at: 0))
    }
    return keys
  }
}

/// The keys of the rows that a delete will remove, of which only the first are in memory.
struct ScratchKeys {
  private var first: [PersistentValue] = []
  private var rest: RowSpool?

  /// Reads the keys of a request's rows, of a model with a single key field.
  init(of request: FetchRequest, in reader: any StorageReader) throws {
    let results = try reader.fetch(request, selecting: request.schema.keyPositions)
    var (first, rest): ([PersistentValue], RowSpool?) = ([], nil)
    _ = try results.read(from: 0, limit: Int.max) { row in
      guard first.count == KeepingTransaction.chunk else { return first.append(try row.value(at: 0)) }
      let spool = try rest ?? RowSpool(width: 1)
      rest = spool
      try spool.add(row)
    }
    (self.first, self.rest) = (first, rest)
  }

  /// Calls a closure with the keys, a chunk at a time.
  func forEachChunk(_ body: ([PersistentValue]) throws -> Void) throws {
    if !first.isEmpty { try body(first) }
    var keys: [PersistentValue] = []
    try rest?.forEach { row in
      keys.append(try row.value(at: 0))
      guard keys.count == KeepingTransaction.chunk else { return }
      try body(keys)
      keys.removeAll(keepingCapacity: true)
    }
    if !keys.isEmpty { try body(keys) }
  }
}
