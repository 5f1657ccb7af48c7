import Foundation
import PersistenceCore
import PersistenceDriver

extension Journal {
  private func waitingKeys(of number: Int) -> Query<WaitingKeyRecord> {
    repository.filter(WaitingKeyRecord.self, where: \.model == model && \.number == number)
  }

  private func recordKeys(_ keys: some Sequence<RecordKey>, of number: Int) throws {
    for part in Set(try keys.map { try HashedName.of($0) }) {
      try repository.save(WaitingKeyRecord(model: model, part: part, number: number))
    }
  }

  // MARK: Writing

  func enqueue(
    _ changes: [ObjectChange<Object>], id: UUID, by writer: UUID, at date: Date, mayJoin: Bool,
    following earlier: OutboxRecord? = nil
  ) throws {
    let data = try LayerCoding.data(changes.map(OutboxChange.init))
    let number = try advance(by: writer)
    var entry = OutboxRecord(
      model: model, number: number, batch: id, changes: data, created: date,
      schemaName: try LayerSchemas.name(of: Object.schema.model))
    if let earlier {
      entry.follow(earlier)
    } else if mayJoin, try waiting.limit(1).count() > 0 {
      // The first one is sent at once and alone, so that no transaction needs to record it before.
      entry.isUnsent = true
    }
    try repository.insert(entry)
    try recordKeys(changes.map(\.object.recordKey), of: number)
  }

  /// Removes an entry.
  func delete(_ entry: OutboxRecord) throws {
    try repository.delete(OutboxRecord.self, id: entry.primaryKey)
    _ = try waitingKeys(of: entry.number).delete()
  }

  /// Replaces the changes of a waiting entry, which keeps its place, under a new id.
  ///
  /// - Returns: Whether the entry still waited.
  func replace(_ entry: OutboxRecord, with changes: [ObjectChange<Object>]) throws -> Bool {
    guard var current = try current(entry), !current.isSetAside else { return false }
    try revokeJoint(of: current)
    if changes.isEmpty {
      try delete(current)
      return true
    }
    current.replaceBatch()
    current.attempts = 0
    (current.failures, current.failuresAlone, current.errorCode, current.errorMessage) = (nil, nil, nil, nil)
    current.changes = try LayerCoding.data(changes.map(OutboxChange.init))
    current.schemaName = try LayerSchemas.name(of: Object.schema.model)
    try repository.save(current)
    _ = try waitingKeys(of: entry.number).delete()
    try recordKeys(changes.map(\.object.recordKey), of: entry.number)
    return true
  }

  /// The names of the keys that a waiting entry changes, also if the present declaration cannot read it.
  func waitingParts(of entry: OutboxRecord) throws -> [String] {
    try waitingKeys(of: entry.number).result().checkedArray().map(\.part)
  }

  /// Sets a waiting entry aside.
  ///
  /// - Returns: Whether the entry still waited.
  func setAside(_ entry: OutboxRecord, _ error: PersistenceError) throws -> Bool {
    guard var current = try current(entry), !current.isSetAside else { return false }
    // Its joint batch is not sent without it: whether the remote layer has it would tell nothing of this entry.
    try revokeJoint(of: current)
    current.isSetAside = true
    current.keep(error)
    try repository.save(current)
    _ = try waitingKeys(of: entry.number).delete()
    return true
  }

  /// Removes and returns an entry that was set aside.
  ///
  /// - Throws: `notFound` if it is no longer set aside.
  func take(_ entry: OutboxEntry<Object>) throws -> OutboxRecord {
    guard let record = try record(entry), record.isSetAside else {
      throw PersistenceError(
        .notFound, "the outbox has no entry \(entry.id) that was set aside", model: model)
    }
    try delete(record)
    return record
  }

  /// Records the keys of entries that an earlier release wrote.
  func recordMissingKeys() throws {
    let keys = repository.filter(WaitingKeyRecord.self, where: \.model == model)
    guard try keys.limit(1).count() == 0 else { return }
    var reader = EntryReader(self)
    for entry in try waitingEntries() {
      try recordKeys((try? reader.changes(of: entry))?.map(\.object.recordKey) ?? [], of: entry.number)
    }
  }

  // MARK: Reading

  private var waiting: Query<OutboxRecord> {
    repository.filter(OutboxRecord.self, where: \.model == model && \.isSetAside == false)
  }

  /// The entries that were set aside, in order.
  func entriesSetAside() throws -> [OutboxRecord] {
    try repository.filter(OutboxRecord.self, where: \.model == model && \.isSetAside == true)
      .sorted(by: \.number).result().checkedArray()
  }

  /// The waiting entries after a number and up to another, in order.
  func waitingEntries(after number: Int = .min, upTo end: Int = .max, limit: Int? = nil) throws
    -> [OutboxRecord]
  {
    var query = waiting.filter(where: \.number > number && \.number <= end).sorted(by: \.number)
    if let limit { query = query.limit(limit) }
    return try query.result().checkedArray()
  }

  func countEntries(isSetAside: Bool) throws -> Int {
    try repository.filter(OutboxRecord.self, where: \.model == model && \.isSetAside == isSetAside).count()
  }

  /// The current state of an entry; nil if it is gone or replaced.
  func current(_ entry: OutboxRecord) throws -> OutboxRecord? {
    guard let stored = try repository.find(OutboxRecord.self, id: entry.primaryKey),
      stored.batch == entry.batch
    else { return nil }
    return stored
  }

  /// The record of an entry; nil if it is gone or replaced.
  func record(_ entry: OutboxEntry<Object>) throws -> OutboxRecord? {
    let record = try repository.find(
      OutboxRecord.self, id: OutboxRecord.Key(model: model, number: entry.number))
    return record?.batch == entry.id ? record : nil
  }

  /// Whether an entry after a number changes a key.
  func isWaiting(_ key: RecordKey, after number: Int = .min) throws -> Bool {
    let part = try HashedName.of(key)
    return try repository.filter(
      WaitingKeyRecord.self, where: \.model == model && \.part == part && \.number > number
    ).limit(1).count() > 0
  }

  /// The names of the keys that waiting entries change.
  func waitingNames() throws -> Set<String> {
    Set(
      try repository.filter(WaitingKeyRecord.self, where: \.model == model).result().checkedArray().map(
        \.part))
  }
}
