import PersistenceCore
import PersistenceDriver

/// Changes of the top layer that waiting entries keep out.
///
/// A change that arrives before the acknowledgement of an entry can be older or newer than the entry in the top layer.
extension Journal {
  /// Records which changes tell another state than the local one, for entries that may have been sent.
  ///
  /// An entry that no request has contained is applied after the change. The last change of a key counts: the echo of an
  /// entry of this device may follow those of earlier ones.
  func recordMissedChanges(in refresh: Refresh<Object>, held: [Object], waiting: Set<String>) throws {
    guard let keys = refresh.changedKeys, !waiting.isEmpty else { return }
    let (told, mine) = (Self.byKey(refresh.objects), Self.byKey(held))
    for key in keys {
      let part = try HashedName.of(key)
      guard waiting.contains(part) else { continue }
      let differs =
        switch (told[key], mine[key]) {
        case (nil, nil): false
        case (let told?, let mine?): try !mine.hasSameFields(as: told)
        default: true
        }
      for var record in try repository.filter(
        WaitingKeyRecord.self, where: \.model == model && \.part == part
      ).result().checkedArray() where record.hasMissedChange ?? false != differs {
        let entry = try repository.find(
          OutboxRecord.self, id: OutboxRecord.Key(model: model, number: record.number))
        if entry?.isUnsent == true { continue }
        record.hasMissedChange = differs ? true : nil
        try repository.save(record)
      }
    }
  }

  /// The keys of entries that have kept out a change.
  func missedKeys(of entries: [WaitingEntry<Object>]) throws -> [RecordKey] {
    guard let first = entries.first?.record.number, let last = entries.last?.record.number else { return [] }
    let records = try repository.filter(
      WaitingKeyRecord.self, where: \.model == model && \.number >= first && \.number <= last
    ).filter(where: \.hasMissedChange == true).result().checkedArray()
    if records.isEmpty { return [] }
    let parts = Set(records.map(\.part))
    return try entries.flatMap(\.keys).filter { try parts.contains(HashedName.of($0)) }
  }

  private static func byKey(_ objects: [Object]) -> [RecordKey: Object] {
    Dictionary(objects.map { ($0.recordKey, $0) }) { $1 }
  }
}
