package import DataAccess
package import PersistenceCore

/// What is written while things are killed: number 0 counts the writes, each of the others was made by one of them.
package struct Job: PersistentRecord, Equatable {
  package var id: Int
  package var count: Int

  package static let schema = RecordSchema<Job>(
    "Job", fields: [.field("id", \.id), .field("count", \.count)], key: [\.id])
  package var primaryKey: Int { id }

  package init(_ id: Int, count: Int) { (self.id, self.count) = (id, count) }

  package init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    count = try row.decode(at: 1)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(count, at: 1)
  }

  /// The write of a number: it counts itself by a conditional update, which would be refused the second time, inserts one
  /// record, and deletes every fourth of them two writes later.
  package static func changes(_ number: Int, _ counter: Job) -> [ObjectChange<Job>] {
    var changes: [ObjectChange<Job>] = [
      .update(Job(0, count: number), replacing: counter), .insert(Job(number, count: number)),
    ]
    if number % 4 == 2, number > 2 { changes.append(.delete(Job(number - 2, count: 0))) }
    return changes
  }

  /// What is stored once so many writes are done.
  package static func stored(after writes: Int) -> [Job] {
    [Job(0, count: writes)]
      + (1...writes).filter { $0 % 4 != 0 || $0 + 2 > writes }.map { Job($0, count: $0) }
  }
}
