import Foundation
import PersistenceCore
import PersistenceDriver

/// The layers' records in a repository, within a transaction or a read.
struct Journal<Object: PersistentRecord> {
  let repository: any PersistentRepository
  let model: String

  init(_ repository: any PersistentRepository) throws {
    self.repository = repository
    model = try Object.schema.model.name
  }

  // MARK: State

  /// The number of writes of the model and its last writer; nil if no layered data source has written it.
  var state: LayerState? {
    get throws { try repository.find(LayerState.self, id: model) }
  }

  /// Increments the number of writes.
  func advance(by writer: UUID) throws -> Int {
    var state = try state ?? LayerState(model: model, writer: writer)
    if state.writer != writer { (state.writer, state.turn) = (writer, state.generation) }
    state.generation += 1
    try repository.save(state)
    return state.generation
  }

  // MARK: Coverage

  private static var limit: Int { 256 }
  private static var keyLimit: Int { 4096 }

  /// A complete region, and the number of writes before it was recorded.
  struct RecordedCoverage {
    let coverage: Coverage
    let number: Int
  }

  /// The complete regions that may answer a query.
  func coverages(for layerQuery: LayerQuery<Object>) throws -> [RecordedCoverage] {
    var found: [CoverageRecord] = []
    if case .key(_, let key) = layerQuery.kind,
      let record = try repository.find(
        CoverageRecord.self, id: CoverageRecord.Key(model: model, part: "k" + HashedName.of(key)))
    {
      found.append(record)
    }
    found += try repository.filter(CoverageRecord.self, where: \.model == model && \.isKey == false).result()
      .checkedArray()
    return try found.map {
      RecordedCoverage(coverage: try LayerCoding.value(Coverage.self, $0.content), number: $0.number)
    }
  }

  /// Records a region that is complete.
  func record(_ coverage: Coverage, key: RecordKey?) throws {
    let number = try state?.generation ?? 0
    var identity = coverage
    identity.asOf = .distantPast
    let part =
      try key.map { try "k" + HashedName.of($0) } ?? ("r" + HashedName.of(try LayerCoding.data(identity)))
    if key == nil {
      for record in try repository.filter(CoverageRecord.self, where: \.model == model && \.isKey == false)
        .result().checkedArray()
      where try LayerCoding.value(Coverage.self, record.content).isReplaced(by: coverage) {
        try repository.delete(CoverageRecord.self, id: record.primaryKey)
      }
      if coverage.isEverything { try clearSettledStaleKeys() }
    }
    try repository.save(
      CoverageRecord(
        model: model, part: part, isKey: key != nil, number: number, content: try LayerCoding.data(coverage)))
    // Counting at each write would cost more than the write.
    guard Int.random(in: 0..<32) == 0 else { return }
    let isKey = key != nil
    let records = repository.filter(CoverageRecord.self, where: \.model == model && \.isKey == isKey)
    let excess = try records.count() - (isKey ? Self.keyLimit : Self.limit)
    if excess > 0 { _ = try records.sorted(by: \.number).limit(excess).delete() }
  }

  /// Records that a deleted object is absent.
  ///
  /// An existing object needs no record.
  func recordAbsence(after change: ObjectChange<Object>, asOf date: Date) throws {
    guard case .delete(let object) = change else { return }
    let key = object.recordKey
    try record(Coverage(predicate: .key(key, in: try Object.schema.model), asOf: date), key: key)
  }

  /// Removes objects that were absent from an answer, and the regions that may lack them.
  func forget(_ removed: [Object], missingFrom part: Coverage) throws {
    if removed.isEmpty { return }
    for object in removed {
      try repository.delete(
        CoverageRecord.self, id: CoverageRecord.Key(model: model, part: "k" + HashedName.of(object.recordKey))
      )
    }
    for record in try repository.filter(CoverageRecord.self, where: \.model == model && \.isKey == false)
      .result().checkedArray()
    where try LayerCoding.value(Coverage.self, record.content).mayLack(removed, missingFrom: part) {
      try repository.delete(CoverageRecord.self, id: record.primaryKey)
    }
  }

  func forgetCoverage() throws {
    _ = try repository.filter(CoverageRecord.self, where: \.model == model).delete()
  }

  // MARK: Stale keys and pending writes

  /// Whether a key is stale, or has a pending write of any writer.
  func isStale(_ key: RecordKey) throws -> Bool {
    let (first, end) = (
      try HashedName.of(key), try HashedName.of(key) + String(StaleKeyRecord.separatorSuccessor)
    )
    let records = repository.filter(
      StaleKeyRecord.self, where: \.model == model && \.part >= first && \.part < end)
    return try records.limit(1).count() > 0
  }

  /// Marks keys as stale and removes all regions.
  func markStale(_ keys: some Sequence<RecordKey>, by writer: UUID) throws {
    try forgetCoverage()
    try markStale(parts: keys.map { try HashedName.of($0) })
    // A new generation keeps an answer that another process requested earlier from clearing the keys.
    _ = try advance(by: writer)
  }

  /// Marks keys as stale by their names.
  ///
  /// The caller removes the regions.
  func markStale(parts: some Sequence<String>) throws {
    for part in parts {
      try repository.save(StaleKeyRecord(model: model, part: part, isSettled: true))
    }
  }

  /// Removes a stale key, but not its pending writes.
  func clearStale(_ key: RecordKey) throws { try delete(part: try HashedName.of(key)) }

  /// Records a write that the upper layer is about to make.
  func recordPendingWrite(_ key: RecordKey, by writer: UUID) throws {
    try repository.save(
      StaleKeyRecord(
        model: model, part: try StaleKeyRecord.pendingWriteName(of: key, by: writer), isSettled: false))
  }

  /// Removes a pending write.
  ///
  /// A stale key stays stale.
  func removePendingWrite(_ key: RecordKey, by writer: UUID) throws {
    try delete(part: try StaleKeyRecord.pendingWriteName(of: key, by: writer))
  }

  private func delete(part: String) throws {
    try repository.delete(StaleKeyRecord.self, id: CoverageRecord.Key(model: model, part: part))
  }

  /// Removes the stale keys, but not the pending writes.
  private func clearSettledStaleKeys() throws {
    _ = try repository.filter(StaleKeyRecord.self, where: \.model == model && \.isSettled == true).delete()
  }

  /// Marks the keys of pending writes as stale, if a process was killed during a write.
  ///
  /// The pending writes of live writers stay: an answer from before their end does not clear the keys.
  func recover(by writer: UUID) throws {
    let open = repository.filter(StaleKeyRecord.self, where: \.model == model && \.isSettled == false)
    let records = try open.result().checkedArray()
    guard !records.isEmpty else { return }
    try forgetCoverage()
    for record in records where !record.isOfLiveWriter { try delete(part: record.part) }
    try markStale(parts: records.map(\.keyName))
    _ = try advance(by: writer)
  }
}
