import Foundation
import PersistenceDriver

/// What can be read of a ledger, whoever wrote it and whatever became of it: for undoing what it tells of.
struct LedgerRemains {
  /// The models of which it can be read what was done to them.
  private(set) var entries: [LedgerEntry] = []

  /// Whether there is no ledger.
  private(set) var isEmpty = true

  /// Whether that is all of them.
  var isWhole: Bool { isEmpty || (!hasDamage && named == Set(entries.map { StoredName($0.model) })) }

  private var hasDamage = false
  /// The models that the ledger's head names; nil where there is none that can be read.
  private var named: Set<StoredName>?

  private init() {}

  /// The remains in the state that is read.
  static func find(in reader: any StorageReader) throws -> LedgerRemains {
    var remains = LedgerRemains()
    guard try Ledger.exists(in: reader) else { return remains }
    let results = try reader.fetch(try FetchRequest(try Ledger.schema()))
    var (done, isFinished) = (0, false)
    while !isFinished {
      do {
        // One by one, so that one that is damaged hides none of the others.
        isFinished = try results.read(from: done, limit: 1) { remains.add($0) } == 0
      } catch let error as PersistenceError where error.isAboutOneRecord {
        (remains.hasDamage, remains.isEmpty) = (true, false)
        isFinished = try done + 1 >= results.count()
      }
      done += 1
    }
    return remains
  }

  private mutating func add(_ row: borrowing Row) {
    isEmpty = false
    let data = Data(row[1].borrowedBytes)
    if row[0].borrowedBytes.isEmpty {
      named = (try? JSONDecoder().decode(Head.self, from: data)).map {
        Set($0.schemas.map { StoredName($0.name) })
      }
    } else if let entry = try? JSONDecoder().decode(LedgerEntry.self, from: data) {
      entries.append(entry)
    } else {
      hasDamage = true
    }
  }

  /// The part of the head that is needed, in whatever form the rest of it is.
  private struct Head: Decodable {
    struct Schema: Decodable { var name: String }
    var schemas: [Schema]
  }
}
