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

  /// The first stored rejects, in order.
  static func read(from reader: any StorageReader, location: String, limit: Int) throws -> [MigrationReject] {
    var first: [MigrationReject] = []
    let request = try FetchRequest(try Ledger.rejectSchema(), limit: limit)
    try forEachPage(of: request, in: reader, location: location) { first += $0 }
    return first
  }

  /// Passes all stored rejects to a closure, in order and in pages of bounded size.
  static func forEachPage(
    in reader: any StorageReader, location: String, _ body: ([MigrationReject]) throws -> Void
  ) throws {
    let request = try FetchRequest(try Ledger.rejectSchema())
    try forEachPage(of: request, in: reader, location: location, body)
  }

  private static func forEachPage(
    of request: FetchRequest, in reader: any StorageReader, location: String,
    _ body: ([MigrationReject]) throws -> Void
  ) throws {
    let results = try reader.fetch(request)
    var (page, bytes, done, isFinished) = ([MigrationReject](), 0, 0, false)
    while !isFinished {
      // One at a time: an earlier version of this package stored rejects of any size.
      isFinished =
        try results.read(from: done, limit: 1) { row in
          let content = row[1].borrowedBytes
          bytes += content.count
          page.append(try reject(Data(content), location))
        } == 0
      done += 1
      guard isFinished || page.count == pageRows || bytes >= pageBytes else { continue }
      if !page.isEmpty { try body(page) }
      (page, bytes) = ([], 0)
    }
  }

  private static func reject(_ content: Data, _ location: String) throws -> MigrationReject {
    do {
      return try JSONDecoder().decode(MigrationReject.self, from: content)
    } catch {
      throw PersistenceError(
        .damaged,
        "a reject that the unfinished migration stored is unreadable (\(error)); restart the migration",
        location: location)
    }
  }

  /// Passes all stored rejects to a sink, page by page.
  static func replay(
    to sink: any MigrationRejectSink, from reader: any StorageReader, location: String
  ) throws {
    var hasBegun = false
    try forEachPage(in: reader, location: location) { page in
      try hasBegun ? sink.add(page) : sink.begin(with: page)
      hasBegun = true
    }
    if !hasBegun { try sink.begin(with: []) }
  }

  private static let pageRows = 1000
  private static let pageBytes = 1 << 20
}
