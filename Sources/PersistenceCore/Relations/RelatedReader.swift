import PersistenceDriver
import PersistenceDriverSupport

/// Reads the records that belong to those of a page, from the page's moment.
@usableFromInline
struct RelatedReader: @unchecked Sendable {  // a snapshot is Sendable; in a transaction, it is used at once
  /// The number of keys that one request names.
  static let chunk = 1_000

  private let reader: any StorageReader
  private let location: String

  init(_ reader: any StorageReader, location: String) {
    self.reader = reader
    self.location = location
  }

  /// The records that some values refer to, and the values of some of their fields; each is asked for once.
  func targets<Model: PersistentRecord>(_ model: Model.Type, of values: [PersistentValue], fields: [Int])
    throws
    -> RelatedTargets<Model>
  {
    let keys = RelatedKeys(values)
    let schema = try model.schema.model
    let key = schema.keyPositions[0]
    var records = CollectedRecords<Model>(schema, location: location, fields: fields + [key])
    try forEachChunk(of: keys.all) { chunk in
      let request = try FetchRequest(schema, where: .isIn(field: schema.key[0], chunk))
      try records.add(reader.fetch(request), page: chunk.count)
    }
    let page = records.page
    return RelatedTargets(page: page, places: keys.places(of: page.values(at: key)))
  }

  /// The records that refer to some keys, in the order asked for among those of a key, and the values of some fields.
  func referrers<Model: PersistentRecord>(
    _ model: Model.Type, by position: Int, to keys: [PersistentValue], _ options: FetchOptions<Model>,
    fields: [Int]
  ) throws -> RelatedPage<Model> {
    let schema = try model.schema.model
    let field = schema.fields[position].name
    var records = CollectedRecords<Model>(schema, location: location, fields: fields)
    let condition = try answered(options.predicate)
    try forEachChunk(of: keys) { chunk in
      let referring = PredicateNode.conjunction(.isIn(field: field, chunk), condition)
      guard options.sorting.contains(where: { $0.relation != nil }) else {
        let request = try FetchRequest(schema, where: referring, order: options.sorting.map(\.fieldOrder))
        return try records.add(reader.fetch(request), page: Self.chunk)
      }
      let order = try RelatedOrder(
        options.sorting.map { .init($0.fieldOrder, related: $0.related) }, of: schema, reader,
        declared: options.related.map { try $0.declaration.schema })
      let predicate = try FetchRequest(schema, where: referring).predicate
      let keys = try order.keys(where: predicate, after: nil, offset: 0, limit: nil)
      try records.add(KeyedResults(keys, of: schema, selecting: nil, reader), page: Self.chunk)
    }
    return records.page
  }

  /// The number of records that refer to each of some keys, if there are any.
  func counts<Model: PersistentRecord, Value: ReferenceValue>(
    _ property: ReferenceProperty<Model, Value>, _ keys: [PersistentValue],
    _ predicate: PersistentPredicate<Model>
  ) throws -> [PersistentValue: Int] {
    var counts: [PersistentValue: Int] = [:]
    let (schema, field) = (try Model.schema.model, property.name)
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

  private func forEachChunk(of keys: [PersistentValue], _ body: ([PersistentValue]) throws -> Void) throws {
    if keys.count <= Self.chunk { return keys.isEmpty ? () : try body(keys) }
    let sorted = keys.sorted()
    for start in stride(from: 0, to: sorted.count, by: Self.chunk) {
      try body(Array(sorted[start..<min(start + Self.chunk, sorted.count)]))
    }
  }
}

/// Records of several requests, and the values of some of their fields.
private struct CollectedRecords<Model: PersistentRecord> {
  private let decoder: RowDecoder<Model>
  private var models: [Model] = []
  private var values: FieldValues

  init(_ schema: ModelSchema, location: String, fields: [Int]) {
    decoder = RowDecoder(schema: schema, selecting: nil, location: location) { try Model(from: $0) }
    values = FieldValues(of: Set(fields))
  }

  var page: RelatedPage<Model> { RelatedPage(models, values) }

  /// Adds all rows of a request, in pages.
  mutating func add(_ rows: any StorageResults, page: Int) throws {
    var (position, size) = (0, 0)
    repeat {
      let records = try decoder.page(rows, from: position, limit: page, &values)
      size = records.count
      position += size
      // Most requests take one page.
      if models.isEmpty { models = records } else { models += records }
    } while size == page
  }
}
