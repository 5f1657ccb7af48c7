import PersistenceCore
import PersistenceDriver

/// An entry that waits, with its changes.
struct WaitingEntry<Object: PersistentRecord>: Sendable {
  var record: OutboxRecord
  /// The changes; a failure if the present declaration cannot read them.
  let changes: Result<[ObjectChange<Object>], PersistenceError>
  /// The keys of the objects, also of changes that the present declaration cannot read.
  let allKeys: [RecordKey]

  var isReadable: Bool { if case .success = changes { true } else { false } }

  var keys: [RecordKey] { ((try? changes.get()) ?? []).map(\.object.recordKey) }
}

/// Reads entries with the present declaration.
///
/// It compares each schema of entries with the declaration once.
struct EntryReader<Object: PersistentRecord> {
  private let journal: Journal<Object>
  private var fits: [String?: EntryFit<Object>] = [:]

  init(_ journal: Journal<Object>) { self.journal = journal }

  mutating func entry(_ record: OutboxRecord) -> WaitingEntry<Object> {
    do {
      let changes = try changes(of: record)
      return WaitingEntry(
        record: record, changes: .success(changes), allKeys: changes.map(\.object.recordKey))
    } catch {
      return WaitingEntry(
        record: record, changes: .failure(PersistenceError(of: error)), allKeys: storedKeys(of: record))
    }
  }

  /// The keys of an entry by its own schema; none if that is unknown.
  private func storedKeys(of entry: OutboxRecord) -> [RecordKey] {
    guard let name = entry.schemaName,
      let schema = try? LayerSchemas.schema(named: name, of: journal.model, in: journal.repository),
      let changes = try? LayerCoding.value([OutboxChange].self, entry.changes)
    else { return [] }
    return changes.compactMap { change in
      let values = schema.key.compactMap { name in
        change.object.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
      }
      return values.count == schema.key.count ? RecordKey(values) : nil
    }
  }

  /// The changes of an entry.
  ///
  /// - Throws: `schemaMismatch` if the declaration cannot read them.
  mutating func changes(of entry: OutboxRecord) throws -> [ObjectChange<Object>] {
    let fit = try fit(of: entry.schemaName)
    return try LayerCoding.value([OutboxChange].self, entry.changes).map { try $0.change(fit) }
  }

  private mutating func fit(of schemaName: String?) throws -> EntryFit<Object> {
    if let fit = fits[schemaName] { return fit }
    let schema = try schemaName.flatMap {
      try LayerSchemas.schema(named: $0, of: journal.model, in: journal.repository)
    }
    let fit = try EntryFit<Object>(schema, in: journal.repository)
    fits[schemaName] = fit
    return fit
  }
}
