import PersistenceDriver
import PersistenceDriverSupport

/// Reads the records that belong to those of a page, from the page's moment.
struct RelatedReader: @unchecked Sendable {  // a snapshot is Sendable; in a transaction, it is used at once
  /// The number of keys that one request names.
  private static let chunk = 1_000

  private let reader: any StorageReader
  private let location: String

  init(_ reader: any StorageReader, location: String) {
    self.reader = reader
    self.location = location
  }

  /// The records with some keys; each key is asked for once.
  func records<Model: PersistentRecord>(_ model: Model.Type, keys: Set<PersistentValue>) throws
    -> [PersistentValue: Model]
  where Model.PrimaryKey: PersistentValueConvertible {
    var records: [PersistentValue: Model] = [:]
    records.reserveCapacity(keys.count)
    let schema = try model.schema.model
    try forEachChunk(of: keys) { chunk in
      let request = try FetchRequest(schema, where: .isIn(field: schema.key[0], chunk))
      try read(reader.fetch(request), schema, page: chunk.count) { (record: Model) in
        records[record.primaryKey.persistentValue] = record
      }
    }
    return records
  }

  /// The records that refer to each of some keys, in the order asked for.
  func lists<Model: PersistentRecord, Value: ReferenceValue>(
    _ property: ReferenceProperty<Model, Value>, _ keys: [PersistentValue], _ options: FetchOptions<Model>
  ) throws -> [[Model]] {
    var records: [PersistentValue: [Model]] = [:]
    let (schema, field) = (try Model.schema.model, Model.name(of: property.keyPath))
    let condition = try answered(options.predicate)
    try forEachChunk(of: Set(keys)) { chunk in
      let referring = PredicateNode.conjunction(.isIn(field: field, chunk), condition)
      func add(_ record: Model) {
        if let key = property.key(of: record) { records[key, default: []].append(record) }
      }
      guard options.sorting.contains(where: { $0.relation != nil }) else {
        let request = try FetchRequest(schema, where: referring, order: options.sorting.map(\.fieldOrder))
        return try read(reader.fetch(request), schema, add)
      }
      let order = try RelatedOrder(
        options.sorting.map { .init($0.fieldOrder, related: $0.related) }, of: schema, reader,
        declared: options.related.map { try $0.declaration.schema })
      let predicate = try FetchRequest(schema, where: referring).predicate
      let keys = try order.keys(where: predicate, after: nil, offset: 0, limit: nil)
      try read(KeyedResults(keys, of: schema, selecting: nil, reader), schema, add)
    }
    return keys.map { records[$0] ?? [] }
  }

  /// The number of records that refer to each of some keys, if there are any.
  func counts<Model: PersistentRecord, Value: ReferenceValue>(
    _ property: ReferenceProperty<Model, Value>, _ keys: Set<PersistentValue>,
    _ predicate: PersistentPredicate<Model>
  ) throws -> [PersistentValue: Int] {
    var counts: [PersistentValue: Int] = [:]
    let (schema, field) = (try Model.schema.model, Model.name(of: property.keyPath))
    let condition = try answered(predicate)
    try forEachChunk(of: keys) { chunk in
      let rows = try FetchRequest(schema, where: .conjunction(.isIn(field: field, chunk), condition))
      for group in try reader.aggregate(AggregateRequest(rows, grouping: [field], aggregates: [.count])) {
        guard case .integer(let count) = group.values[0] else { continue }
        counts[group.key[0]] = Int(count)
      }
    }
    return counts
  }

  private func answered<Model: PersistentRecord>(_ predicate: PersistentPredicate<Model>) throws
    -> PredicateNode
  {
    let node = try predicate.checkedNode()
    guard predicate.hasRelations else { return node }
    let declared = try predicate.related.map { try $0.declaration.schema }
    return try RelationAnswers(reader, declared: declared).answer(node, on: Model.schema.model)
  }

  private func forEachChunk(of keys: Set<PersistentValue>, _ body: ([PersistentValue]) throws -> Void) throws
  {
    if keys.count <= Self.chunk { return keys.isEmpty ? () : try body(Array(keys)) }
    let sorted = keys.sorted()
    for start in stride(from: 0, to: sorted.count, by: Self.chunk) {
      try body(Array(sorted[start..<min(start + Self.chunk, sorted.count)]))
    }
  }

  private func read<Model: PersistentRecord>(
    _ rows: any StorageResults, _ schema: ModelSchema, page: Int = chunk, _ body: (Model) throws -> Void
  ) throws {
    let decoder = RowDecoder(schema: schema, selecting: nil, location: location) { try Model(from: $0) }
    var (position, size) = (0, 0)
    repeat {
      let models = try decoder.page(rows, from: position, limit: page)
      for model in models { try body(model) }
      size = models.count
      position += size
    } while size == page
  }
}
