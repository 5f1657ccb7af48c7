import Foundation
import PersistenceCore
import PersistenceDriver

/// A look-up by key or a query, as the layers receive it.
struct LayerQuery<Object: PersistentRecord>: Sendable {
  enum Kind: Sendable {
    case key(Object.PrimaryKey, RecordKey)
    case query(FetchOptions<Object>)
  }

  let kind: Kind
  let request: FetchRequest
  /// Whether the answering layer guarantees contract order, so that a limited answer shows which objects are
  /// absent.
  private(set) var isAnsweredInOrder = true

  init(_ key: Object.PrimaryKey) throws {
    let schema = try Object.schema.model
    let recordKey = RecordKey(key.keyValues)
    kind = .key(key, recordKey)
    request = try FetchRequest(schema, where: .key(recordKey, in: schema))
  }

  init(_ query: FetchOptions<Object>) throws {
    guard query.token == nil else {
      throw PersistenceError.unsupported(
        "continue from a page token, which belongs to one data source; use `after`",
        by: "a layered data source")
    }
    kind = .query(query)
    request = try query.fetchRequest()
  }

  /// The key of a look-up; nil for a query.
  var key: RecordKey? { if case .key(_, let key) = kind { key } else { nil } }

  /// The query, for a given data source.
  func answered(by source: AnyDataSource<Object>) -> LayerQuery {
    var layerQuery = self
    layerQuery.isAnsweredInOrder = source.hasContractOrder
    return layerQuery
  }

  func ask(_ source: AnyDataSource<Object>) async throws(PersistenceError) -> [Object] {
    switch kind {
    case .key(let key, _): try await source.find(key).map { [$0] } ?? []
    case .query(let query): try await source.execute(query)
    }
  }

  func ask(_ repository: any PersistentRepository) throws -> [Object] {
    switch kind {
    case .key(let key, _): try repository.find(Object.self, id: key).map { [$0] } ?? []
    case .query(let query): try Array(Object.results(in: repository.context, options: query))
    }
  }

  /// The region that an answer covers.
  func coverage(of objects: [Object], asOf: Date) throws -> Coverage? {
    switch kind {
    case .key: Coverage(predicate: request.predicate, asOf: asOf)
    case .query:
      // Another order may have other objects between the same two positions.
      try Coverage(of: request, answeredBy: objects, asOf: asOf)
        .flatMap { isAnsweredInOrder || !$0.isBounded ? $0 : nil }
    }
  }
}

/// The complete answer of a replica.
struct ReplicaAnswer<Object: PersistentRecord>: Sendable {
  var objects: [Object]
  /// The date at which the authoritative layer was known to hold these objects; nil if unknown.
  var asOf: Date?
}

/// The answer of a better layer, for refreshing a replica.
struct Refresh<Object: PersistentRecord>: Sendable {
  var layerQuery: LayerQuery<Object>
  var objects: [Object]
  var asOf: Date
  /// The replica's version before the better layer was queried.
  var version: ReplicaVersion
  let order: WriteOrder
  /// The keys that the objects decide, for changes of the better layer; nil for the answer to a query.
  ///
  /// An absent object was then deleted, and did not move to another region. Changes make no region complete.
  var changedKeys: [RecordKey]?

  init(
    _ layerQuery: LayerQuery<Object>, _ objects: [Object], asOf: Date, version: ReplicaVersion,
    _ order: WriteOrder
  ) {
    (self.layerQuery, self.objects, self.asOf, self.version) = (layerQuery, objects, asOf, version)
    self.order = order
  }

  /// The region that the answer covers; nil for changes.
  func coverage() throws -> Coverage? {
    try changedKeys == nil ? layerQuery.coverage(of: objects, asOf: asOf) : nil
  }

  /// The queries for the local objects with the changed keys.
  func changedParts() throws -> [FetchOptions<Object>] {
    let schema = layerQuery.request.schema
    return (changedKeys ?? []).map {
      FetchOptions(predicate: PersistentPredicate(node: .key($0, in: schema)))
    }
  }

  /// The query for the local objects of a region.
  func part(_ coverage: Coverage?) -> FetchOptions<Object>? {
    coverage.map { FetchOptions(predicate: PersistentPredicate(node: $0.region ?? .constant(true))) }
  }

  /// The objects that are not in a given list.
  func objects(besides held: [Object]) -> [Object] {
    let known = Set(held.map(\.recordKey))
    return objects.filter { !known.contains($0.recordKey) }
  }
}

/// The order of an answer and the writes of a layered data source, in one layer.
///
/// Use it where no other refresh or write of the layer can interleave.
struct WriteOrder: Sendable {
  private let reading: WriteLog.Reading
  private let writes: WriteLog
  private let layer: DataSourceLayer

  init(_ reading: WriteLog.Reading, in writes: WriteLog, for layer: DataSourceLayer) {
    (self.reading, self.writes, self.layer) = (reading, writes, layer)
  }

  /// Whether the answer is that of the top layer.
  var isOfTop: Bool { reading.isOfTop }

  /// Whether the layer has stored a newer answer, which makes this one obsolete.
  var isOutdated: Bool { writes.isOutdated(reading, in: layer) }

  /// The layer's state of a key, compared with the answer.
  func state(of key: RecordKey) -> WriteLog.HeldState { writes.state(of: key, in: layer, for: reading) }

  /// Marks that the layer has stored the answer, for a key or for a query.
  func markStored(_ key: RecordKey?) { writes.stored(reading, of: key, in: layer) }
}

/// The version of a replica before a better layer is queried.
struct ReplicaVersion: Sendable, Hashable {
  var invalidationCount = 0
  var generation = 0
}
