package import PersistenceDriver
import PersistenceDriverSupport

/// Reads the records that belong to those of a page, from the page's moment.
@usableFromInline
struct RelatedReader: @unchecked Sendable {  // a snapshot is Sendable; in a transaction, it is used at once
  /// The number of keys that one request names.
  @inlinable static var chunk: Int { 1_000 }

  private let reader: any StorageReader
  @usableFromInline let location: String

  @usableFromInline
  init(_ reader: any StorageReader, location: String) {
    self.reader = reader
    self.location = location
  }

  /// The records that some values refer to, and the values of some of their fields; each is asked for once.
  @inlinable  // so that the loop over the records is specialized for the models of the app
  func targets<Model: PersistentRecord>(_ model: Model.Type, of values: [PersistentValue], fields: [Int])
    throws -> RelatedTargets<Model>
  {
    let (keys, schema) = (RelatedKeys(values), try model.schema.model)
    let key = schema.keyPositions[0]
    var records = CollectedRecords<Model>(schema, location: location, fields: fields + [key])
    try forEachRows(of: keys, in: schema) { try records.add($0, page: $1) }
    let page = records.page
    return RelatedTargets(page: page, places: keys.places(of: page.values(at: key)))
  }

  /// Calls a closure with the rows that have some keys, and with the size of a page that shows their end.
  @usableFromInline
  func forEachRows(
    of keys: RelatedKeys, in schema: ModelSchema, _ body: (any StorageResults, Int) throws -> Void
  ) throws {
    try forEachChunk(of: keys.all) { chunk in
      let request = try FetchRequest(schema, where: .isIn(field: schema.key[0], chunk))
      // A full page would have to be followed by another request.
      try body(reader.fetch(request), chunk.count + 1)
    }
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
@usableFromInline
struct CollectedRecords<Model: PersistentRecord> {
  @usableFromInline let origin: RowOrigin
  @usableFromInline var models: [Model] = []
  @usableFromInline var values: FieldValues

  /// Creates an empty collection; a field may be named more than once.
  @inlinable
  init(_ schema: ModelSchema, location: String, fields: [Int]) {
    origin = RowOrigin(schema, location: location)
    values = FieldValues(of: fields)
  }

  @inlinable var page: RelatedPage<Model> { RelatedPage(models, values) }

  /// Adds all rows of a request, in pages.
  @inlinable
  mutating func add(_ rows: any StorageResults, page: Int) throws {
    var (position, size) = (0, 0)
    repeat {
      let records = try origin.models(Model.self, rows, from: position, limit: page, &values)
      size = records.count
      position += size
      // Most requests take one page.
      if models.isEmpty { models = records } else { models += records }
    } while size == page
  }
}
