import Foundation
import PersistenceCore
import PersistenceDriver

/// What layers are asked: for the object of a key, or for the objects of a query.
struct LayerQuery<Object: PersistentRecord>: Sendable {
  enum Kind: Sendable {
    case key(Object.PrimaryKey, RecordKey)
    case query(FetchOptions<Object>)
  }

  let kind: Kind
  let request: FetchRequest
  /// Whether the store that answers is known to have the contract's order, so that a limited answer tells which objects
  /// are absent before its end.
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
        "go on from a page token, which belongs to one store; use `after`", by: "a layered store")
    }
    kind = .query(query)
    request = try query.fetchRequest()
  }

  /// The key that it asks for; nil for a query.
  var key: RecordKey? { if case .key(_, let key) = kind { key } else { nil } }

  /// The question as a store answers it.
  func answered(by store: AnyDataSource<Object>) -> LayerQuery {
    var question = self
    question.isAnsweredInOrder = store.hasContractOrder
    return question
  }

  /// Asks a store.
  func ask(_ store: AnyDataSource<Object>) async throws(PersistenceError) -> [Object] {
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
    case .query:
      // Between two places of an order there may be others in the order of another store.
      try Coverage(of: request, answeredBy: objects, asOf: asOf)
        .flatMap { isAnsweredInOrder || !$0.isBounded ? $0 : nil }
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
  var question: LayerQuery<Object>
  var objects: [Object]
  var asOf: Date
  /// What the layer gave before the better one was asked.
  var mark: LayerMark
  private let writes: WriteLog
  private let reading: WriteLog.Reading

  init(
    _ question: LayerQuery<Object>, _ objects: [Object], asOf: Date, mark: LayerMark,
    _ reading: WriteLog.Reading,
    in writes: WriteLog
  ) {
    (self.question, self.objects, self.asOf, self.mark) = (question, objects, asOf, mark)
    (self.reading, self.writes) = (reading, writes)
  }

  /// Whether a key is known as it was later: what is held of it stays.
  func newer(_ key: RecordKey) -> Bool { writes.isNewer(key, than: reading) }

  /// Whether all of it is known as it was later, so that nothing of it is taken over; asked where no other refresh of
  /// the layer comes in between.
  var isOutdated: Bool { writes.isOutdated(reading) }

  /// What is held of the part that it tells about is found with these.
  func part(_ coverage: Coverage?) -> FetchOptions<Object>? {
    coverage.map { FetchOptions(predicate: PersistentPredicate(node: $0.region ?? .constant(true))) }
  }

  /// Those of its objects that are not among some that are held.
  func objects(besides held: [Object]) -> [Object] {
    let known = Set(held.map(\.recordKey))
    return objects.filter { !known.contains($0.recordKey) }
  }
}

/// The state of a layer before a better one was asked.
struct LayerMark: Sendable, Hashable {
  var doubtCount = 0
  var generation = 0
}
