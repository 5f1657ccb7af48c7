import Foundation
import PersistenceDriver

/// The rejects that the destination stores until the migration is published.
enum RejectStore {
  /// Stores rejects, numbered from a first number.
  static func save(
    _ rejects: [MigrationReject], from number: Int, in transaction: any StorageTransaction
  ) throws {
    guard !rejects.isEmpty else { return }
    let schema = try Ledger.rejectSchema()
    let row = RowBuffer(count: 2)
    for (index, reject) in rejects.enumerated() {
      row.reset()
      row.setCell(.integer(Int64(number + index)), at: 0)
      row.setText(try Ledger.text(reject), at: 1)
      try row.withRow { try transaction.insert($0, in: schema) }
    }
  }

  static func count(in reader: any StorageReader) throws -> Int {
    try reader.count(try FetchRequest(try Ledger.rejectSchema()))
  }

  /// A page of the stored rejects, in order.
  static func read(from reader: any StorageReader, after offset: Int = 0, limit: Int) throws
    -> [MigrationReject]
  {
    var rejects: [MigrationReject] = []
    let request = try FetchRequest(try Ledger.rejectSchema(), limit: limit, offset: offset)
    let results = try reader.fetch(request)
    _ = try results.read(from: 0, limit: limit) { row in
      rejects.append(try JSONDecoder().decode(MigrationReject.self, from: Data(row[1].borrowedBytes)))
    }
    return rejects
  }

  /// Passes all stored rejects to a sink, page by page.
  static func replay(to sink: any MigrationRejectSink, from reader: any StorageReader) throws {
    var (done, rejects) = (0, try read(from: reader, limit: pageSize))
    try sink.begin(with: rejects)
    while rejects.count == pageSize {
      done += pageSize
      rejects = try read(from: reader, after: done, limit: pageSize)
      if !rejects.isEmpty { try sink.add(rejects) }
    }
  }

  static let pageSize = 1000
}
