import Foundation
import PersistenceDriver

extension Ledger {
  /// Reads the ledger in a store's latest state; nil if there is none.
  static func find(in context: any StorageContext) throws -> Ledger? {
    try find(in: context.snapshot(), location: context.location)
  }

  /// Reads the ledger; nil if there is none, or an empty one.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/otherMigration`` if another version of this package
  ///   wrote it, and ``PersistenceError/Code/damaged`` if it is unreadable.
  static func find(in reader: any StorageReader, location: String) throws -> Ledger? {
    guard try exists(in: reader) else { return nil }
    let schema = try schema()
    var (head, entries): (LedgerHead?, [LedgerEntry]) = (nil, [])
    let results = try reader.fetch(try FetchRequest(schema))
    _ = try results.read(from: 0, limit: Int.max) { row in
      let isHead = row[0].borrowedBytes.isEmpty
      let data = Data(row[1].borrowedBytes)
      do {
        if isHead {
          let format = try JSONDecoder().decode(Format.self, from: data).format
          guard format == LedgerHead.currentFormat else {
            throw PersistenceError(
              .otherMigration,
              "another version of this package started the unfinished migration (ledger format \(format)); finish it "
                + "with that version, or restart it", location: location)
          }
          head = try JSONDecoder().decode(LedgerHead.self, from: data)
        } else {
          entries.append(try JSONDecoder().decode(LedgerEntry.self, from: data))
        }
      } catch let error as DecodingError {
        throw damage("is unreadable (\(error))", location)
      }
    }
    if let head {
      guard Set(head.schemas.map { StoredName($0.name) }) == Set(entries.map { StoredName($0.model) }) else {
        throw damage("lacks an entry for a model", location)
      }
      return Ledger(head: head, entries: entries)
    }
    guard entries.isEmpty else { throw damage("has lost its head", location) }
    return nil
  }

  private static func damage(_ reason: String, _ location: String) -> PersistenceError {
    PersistenceError(
      .damaged, "the ledger of the unfinished migration \(reason); restart the migration", location: location)
  }

  private struct Format: Decodable { var format: Int }

  /// Whether the store defines the ledger's model.
  static func exists(in reader: any StorageReader) throws -> Bool {
    try reader.schema(named: ReservedModel.fillLedger) != nil
  }
}
