import Foundation
import PersistenceDriver

/// The readable part of a ledger, in any format and any state of damage: a restart removes the models that it names.
struct RecoveredLedger {
  private(set) var entries: [LedgerEntry] = []

  /// Whether there is no ledger.
  private(set) var isEmpty = true

  /// Whether every entry of the ledger is readable.
  var isWhole: Bool { isEmpty || (!hasDamage && names == Set(entries.map { StoredName($0.model) })) }

  private var hasDamage = false
  /// The models that the ledger's head names; nil without a readable head.
  private var names: Set<StoredName>?

  private init() {}

  static func read(from reader: any StorageReader) throws -> RecoveredLedger {
    var ledger = RecoveredLedger()
    guard try Ledger.exists(in: reader) else { return ledger }
    let results = try reader.fetch(try FetchRequest(try Ledger.schema()))
    var (done, isFinished) = (0, false)
    while !isFinished {
      do {
        // One at a time, so that a damaged record hides no others.
        isFinished = try results.read(from: done, limit: 1) { ledger.add($0) } == 0
      } catch let error as PersistenceError where error.concernsOneRecord {
        (ledger.hasDamage, ledger.isEmpty) = (true, false)
        isFinished = try done + 1 >= results.count()
      }
      done += 1
    }
    return ledger
  }

  private mutating func add(_ row: borrowing Row) {
    isEmpty = false
    let data = Data(row[1].borrowedBytes)
    if row[0].borrowedBytes.isEmpty {
      names = (try? JSONDecoder().decode(Head.self, from: data)).map {
        Set($0.schemas.map { StoredName($0.name) })
      }
    } else if let entry = try? JSONDecoder().decode(LedgerEntry.self, from: data) {
      entries.append(entry)
    } else {
      hasDamage = true
    }
  }

  /// The part of the head that every format has.
  private struct Head: Decodable {
    struct Schema: Decodable { var name: String }
    var schemas: [Schema]
  }
}
