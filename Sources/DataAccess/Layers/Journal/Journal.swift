import Foundation
import PersistenceCore
import PersistenceDriver

/// The records of layers in a repository, as part of one of its transactions or readings.
struct Journal<Object: PersistentRecord> {
  let repository: any PersistentRepository
  let model: String

  init(_ repository: any PersistentRepository) throws {
    self.repository = repository
    model = try Object.schema.model.name
  }

  // MARK: State

  /// Who has written the model how often; nil where no layered store has.
  var state: LayerState? {
    get throws { try repository.find(LayerState.self, id: model) }
  }

  /// Counts a write.
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

  /// The parts that are held whole, of which one may answer a request.
  func coverages(for question: LayerQuery<Object>) throws -> [Coverage] {
    var found: [CoverageRecord] = []
    if case .key(_, let key) = question.kind,
      let record = try repository.find(
        CoverageRecord.self, id: CoverageRecord.Key(model: model, part: "k" + PartName.of(key)))
    {
      found.append(record)
    }
    found += Array(
      try repository.filter(CoverageRecord.self, where: \.model == model && \.isKey == false).result())
    return try found.map { try LayerCoding.value(Coverage.self, $0.content) }
  }

  /// Notes that a part is held whole.
  func record(_ coverage: Coverage, key: RecordKey?) throws {
    let number = try state?.generation ?? 0
    var identity = coverage
    identity.asOf = .distantPast
    let part =
      try key.map { try "k" + PartName.of($0) } ?? ("r" + PartName.of(try LayerCoding.data(identity)))
    if key == nil {
      for record in try repository.filter(CoverageRecord.self, where: \.model == model && \.isKey == false)
        .result()
      where try LayerCoding.value(Coverage.self, record.content).isReplaced(by: coverage) {
        try repository.delete(CoverageRecord.self, id: record.primaryKey)
      }
      if coverage.isEverything { try clearDoubts() }
    }
    try repository.save(
      CoverageRecord(
        model: model, part: part, isKey: key != nil, number: number, content: try LayerCoding.data(coverage)))
    // To count them each time would cost more than to write them.
    guard Int.random(in: 0..<32) == 0 else { return }
    let isKey = key != nil
    let records = repository.filter(CoverageRecord.self, where: \.model == model && \.isKey == isKey)
    let excess = try records.count() - (isKey ? Self.keyLimit : Self.limit)
    if excess > 0 { _ = try records.sorted(by: \.number).limit(excess).delete() }
  }

  /// Notes that an object is known to be absent, where a change deleted it; one that is there needs no note.
  func recordAbsence(after change: ObjectChange<Object>, asOf date: Date) throws {
    guard case .delete(let object) = change else { return }
    let key = object.recordKey
    try record(Coverage(predicate: .key(key, in: try Object.schema.model), asOf: date), key: key)
  }

  /// Forgets the parts that may lack objects that were missing from the answer of another one, and these themselves.
  func forget(_ gone: [Object], missingFrom part: Coverage) throws {
    if gone.isEmpty { return }
    for object in gone {
      try repository.delete(
        CoverageRecord.self, id: CoverageRecord.Key(model: model, part: "k" + PartName.of(object.recordKey)))
    }
    for record in try repository.filter(CoverageRecord.self, where: \.model == model && \.isKey == false)
      .result()
    where try LayerCoding.value(Coverage.self, record.content).mayLack(gone, missingFrom: part) {
      try repository.delete(CoverageRecord.self, id: record.primaryKey)
    }
  }

  /// Forgets all parts that were held whole.
  func forgetCoverage() throws {
    _ = try repository.filter(CoverageRecord.self, where: \.model == model).delete()
  }

  // MARK: Doubts

  /// Whether a key is in doubt, or is being written above by whomever.
  func isDoubted(_ key: RecordKey) throws -> Bool {
    let (first, end) = (try PartName.of(key), try PartName.of(key) + String(DoubtRecord.end))
    let records = repository.filter(
      DoubtRecord.self, where: \.model == model && \.part >= first && \.part < end)
    return try records.limit(1).count() > 0
  }

  /// Brings keys into doubt, and with them whatever was held whole.
  func doubt(_ keys: some Sequence<RecordKey>, by writer: UUID) throws {
    try forgetCoverage()
    for key in keys {
      try repository.save(DoubtRecord(model: model, part: try PartName.of(key), isSettled: true))
    }
    // An answer that another process asked for before this does not end the doubt.
    _ = try advance(by: writer)
  }

  /// Ends the doubt about a key; what is being written stays announced.
  func clearDoubt(_ key: RecordKey) throws { try delete(part: try PartName.of(key)) }

  /// Writes down that a key is about to be written above.
  func announce(_ key: RecordKey, by writer: UUID) throws {
    try repository.save(
      DoubtRecord(
        model: model, part: try DoubtRecord.announcement(of: key, by: writer), isSettled: false))
  }

  /// Takes an announcement back; what was in doubt before it still is.
  func withdraw(_ key: RecordKey, by writer: UUID) throws {
    try delete(part: try DoubtRecord.announcement(of: key, by: writer))
  }

  private func delete(part: String) throws {
    try repository.delete(DoubtRecord.self, id: CoverageRecord.Key(model: model, part: part))
  }

  /// Clears what was in doubt before; what is being written stays.
  private func clearDoubts() throws {
    _ = try repository.filter(DoubtRecord.self, where: \.model == model && \.isSettled == true).delete()
  }

  /// Forgets what is held whole if a process was killed between a write above and the one here.
  func recover(by writer: UUID) throws {
    let open = repository.filter(DoubtRecord.self, where: \.model == model && \.isSettled == false)
    let records = Array(try open.result())
    guard !records.isEmpty else { return }
    try forgetCoverage()
    for record in records {
      try delete(part: record.part)
      let name = String(record.part.prefix { $0 != DoubtRecord.mark })
      try repository.save(DoubtRecord(model: model, part: name, isSettled: true))
    }
    _ = try advance(by: writer)
  }

  // MARK: Outbox

  func enqueue(_ changes: [ObjectChange<Object>], id: UUID, by writer: UUID, at date: Date) throws {
    let data = try LayerCoding.data(changes.map(StoredChange.init))
    try repository.insert(
      OutboxRecord(model: model, number: try advance(by: writer), batch: id, changes: data, created: date))
  }

  /// The entries that wait, or were set aside, in their order.
  func entries(isSetAside: Bool, limit: Int? = nil) throws -> [OutboxRecord] {
    var query = repository.filter(OutboxRecord.self, where: \.model == model && \.isSetAside == isSetAside)
      .sorted(by: \.number)
    if let limit { query = query.limit(limit) }
    return Array(try query.result())
  }

  func countEntries(isSetAside: Bool) throws -> Int {
    try repository.filter(OutboxRecord.self, where: \.model == model && \.isSetAside == isSetAside).count()
  }

  /// The entry as it is now; nil where it is gone, or another one.
  func current(_ entry: OutboxRecord) throws -> OutboxRecord? {
    guard let stored = try repository.find(OutboxRecord.self, id: entry.primaryKey),
      stored.batch == entry.batch
    else { return nil }
    return stored
  }

  /// Takes out an entry that was set aside.
  ///
  /// - Throws: `notFound` where it is not set aside any more.
  func remove(_ entry: OutboxEntry<Object>) throws {
    let key = OutboxRecord.Key(model: model, number: entry.number)
    guard let record = try repository.find(OutboxRecord.self, id: key), record.isSetAside,
      record.batch == entry.id
    else {
      throw PersistenceError(
        .notFound, "the outbox holds no entry \(entry.id) that was set aside", model: model)
    }
    try repository.delete(OutboxRecord.self, id: key)
  }

  /// The keys that waiting entries are about.
  func waitingKeys(after number: Int = .min) throws -> Set<RecordKey> {
    var keys: Set<RecordKey> = []
    for entry in try entries(isSetAside: false) where entry.number > number {
      for change in (try? OutboxEntry<Object>.changes(of: entry)) ?? [] {
        keys.insert(change.object.recordKey)
      }
    }
    return keys
  }
}
