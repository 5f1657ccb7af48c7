import PersistenceDriver

/// A reader that maps requests of declared schemas to the stored ones.
protocol FittedReader: StorageReaderWrapper {
  var fits: SchemaFits { get }
}

extension FittedReader {
  package func catalog() throws -> [ModelSchema] {
    try wrappedReader.catalog().filter { !$0.isPlaceholder }.map { try $0.visible() }
  }

  package func schema(named name: String) throws -> ModelSchema? {
    guard let schema = try wrappedReader.schema(named: name), !schema.isPlaceholder else { return nil }
    return try schema.visible()
  }

  package func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try key.validate(for: schema)
    // A record that is found under the known mapping proves that the model has not been renamed since.
    if let known = try fits.usingKnownMapping(of: schema, { try find(key, in: schema, $0, body) }), known {
      return true
    }
    return try fits.withMapping(of: schema, wrappedReader) { try find(key, in: schema, $0, body) }
  }

  private func find(
    _ key: RecordKey, in schema: ModelSchema, _ mapping: SchemaMapping?,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    guard let mapping, !mapping.keepsRows else {
      return try wrappedReader.find(key, in: mapping?.stored ?? schema, body)
    }
    if mapping.keepsFirstFields {
      return try wrappedReader.find(key, in: mapping.stored) { try body(try $0.prefix(schema.fields.count)) }
    }
    let mapped = RowBuffer(count: schema.fields.count)
    return try wrappedReader.find(key, in: mapping.stored) { row in
      try mapping.fill(mapped, from: row)
      try mapped.withRow(body)
    }
  }

  package func count(_ request: FetchRequest) throws -> Int {
    try fits.withMapping(of: request.schema, wrappedReader) { mapping in
      try wrappedReader.count(mapping?.request(request) ?? request)
    }
  }

  package func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try fits.withMapping(of: request.schema, wrappedReader) { mapping in
      guard let mapping else { return try wrappedReader.fetch(request) }
      let stored = try mapping.request(request)
      if mapping.keepsRows { return try wrappedReader.fetch(stored) }
      if let positions = mapping.positions { return try wrappedReader.fetch(stored, selecting: positions) }
      return FittedResults(try wrappedReader.fetch(stored), mapping)
    }
  }

  package func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try request.schema.requirePositions(positions)
    return try fits.withMapping(of: request.schema, wrappedReader) { mapping in
      guard let mapping else { return try wrappedReader.fetch(request, selecting: positions) }
      guard let stored = mapping.positions(of: positions) else {
        return SelectedResults(
          FittedResults(try wrappedReader.fetch(mapping.request(request)), mapping), positions: positions)
      }
      return try wrappedReader.fetch(mapping.request(request), selecting: stored)
    }
  }

  package func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try fits.withMapping(of: request.rows.schema, wrappedReader) { mapping in
      guard let mapping else { return try wrappedReader.aggregate(request) }
      if let stored = try mapping.request(request) { return try wrappedReader.aggregate(stored) }
      return try aggregateByScanning(request)
    }
  }

  package func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try fits.withMapping(of: schema, wrappedReader) {
      try wrappedReader.unbuiltIndexes(of: $0?.stored ?? schema)
    }
  }

  package func plan(for request: FetchRequest) throws -> QueryPlan {
    try fits.withMapping(of: request.schema, wrappedReader) { mapping in
      try wrappedReader.plan(for: mapping?.request(request) ?? request)
    }
  }

  package func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try request.schema.requirePositions(positions)
    return try fits.withMapping(of: request.schema, wrappedReader) { mapping in
      guard let mapping else { return try wrappedReader.plan(for: request, selecting: positions) }
      let request = try mapping.request(request)
      guard let stored = mapping.positions(of: positions) else { return try wrappedReader.plan(for: request) }
      return try wrappedReader.plan(for: request, selecting: stored)
    }
  }
}

extension ModelSchema {
  /// The schema without removed fields, and without the indexes over them.
  fileprivate func visible() throws -> ModelSchema {
    let visible = fields.filter { !ModelHistory.isRemoved($0.name) }
    guard visible.count < fields.count else { return self }
    return try ModelSchema(
      name: name, fields: visible, key: key,
      indexes: indexes.filter { !$0.fields.contains(where: ModelHistory.isRemoved) })
  }
}

extension SchemaMapping {
  /// The stored positions of some declared fields; nil if one is a constant.
  func positions(of declared: [Int]) -> [Int]? {
    let stored = declared.compactMap { if case .stored(let position) = sources[$0] { position } else { nil } }
    return stored.count == declared.count ? stored : nil
  }
}

/// Stored rows as rows of a declared schema.
final class FittedResults: StorageResultsWrapper {
  let wrapped: any StorageResults
  private let mapping: SchemaMapping

  init(_ wrapped: any StorageResults, _ mapping: SchemaMapping) {
    self.wrapped = wrapped
    self.mapping = mapping
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    let mapped = RowBuffer(count: mapping.sources.count)
    return try wrapped.read(from: offset, limit: limit) { row in
      try mapping.fill(mapped, from: row)
      try mapped.withRow(body)
    }
  }
}
