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
    case .query(let query): try Object.results(in: repository.context, options: query).checkedArray()
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
