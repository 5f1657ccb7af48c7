import Foundation
import PersistenceCore
import PersistenceDriver

/// What layers are asked: for the object of a key, or for the objects of a query.
struct Question<Object: PersistentRecord>: Sendable {
  enum Kind: Sendable {
    case key(Object.PrimaryKey, RecordKey)
    case query(FetchOptions<Object>)
  }

  let kind: Kind
  let request: FetchRequest

  init(_ key: Object.PrimaryKey) throws {
    let schema = try Object.schema.model
    let recordKey = RecordKey(key.keyValues)
    kind = .key(key, recordKey)
    request = try FetchRequest(schema, where: .key(recordKey, in: schema))
  }

  init(_ query: FetchOptions<Object>) throws {
    guard query.token == nil else {
      throw PersistenceError.unsupported(
        "go on from a page token, which belongs to one store; use `after`", by: "a layered store")
    }
    kind = .query(query)
    request = try query.fetchRequest()
  }

  /// Asks a store.
  func ask(_ store: AnyStore<Object>) async throws(PersistenceError) -> [Object] {
    switch kind {
    case .key(let key, _): try await store.find(key).map { [$0] } ?? []
    case .query(let query): try await store.execute(query)
    }
  }

  /// Asks a repository.
  func ask(_ repository: any PersistentRepository) throws -> [Object] {
    switch kind {
    case .key(let key, _): try repository.find(Object.self, id: key).map { [$0] } ?? []
    case .query(let query): try Array(Object.results(in: repository.context, options: query))
    }
  }

  /// What an answer says about absent objects.
  func coverage(of objects: [Object], asOf: Date) throws -> Coverage? {
    switch kind {
    case .key: Coverage(predicate: request.predicate, asOf: asOf)
    case .query: try Coverage(of: request, answeredBy: objects, asOf: asOf)
    }
  }
}

/// What a layer holds of a question, and knows to be all of it.
struct HeldAnswer<Object: PersistentRecord>: Sendable {
  var objects: [Object]
  /// When the store that decides was known to hold this; nil where that is not known.
  var asOf: Date?
}

/// An answer of a better layer, with which one below is refreshed.
struct Refresh<Object: PersistentRecord>: Sendable {
  var question: Question<Object>
  var objects: [Object]
  var asOf: Date
  /// What the layer gave before the better one was asked.
  var mark: LayerMark
  /// Keys that have been written since then: what is held of them is newer.
  var newer: @Sendable (RecordKey) -> Bool
}

/// The state of a layer before a better one was asked.
struct LayerMark: Sendable, Hashable {
  var doubtCount = 0
  var generation = 0
  var turn = 0
}
