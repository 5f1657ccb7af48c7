import Comparing
import Foundation
import Logging
import PersistenceCore
import PersistenceLMDB
import PersistenceSQLite
import SilentLogging

/// A store of the library at a path.
struct LibraryStore {
  static let schemes = ["sqlite", "lmdb"]

  let url: String
  private let monitoring = Monitoring(logger: .init(label: "benchmark") { _ in SilentLog() })

  init(_ scheme: String, _ path: String) {
    url = "\(scheme):\(path)" + (scheme == "lmdb" ? "?mapsize=64GiB" : "")
  }

  func open() throws -> Repository {
    try Repository(opening: url, engines: [.sqlite, .lmdb], monitoring: monitoring)
  }

  func open(_ schema: any StoreSchema.Type) throws -> Repository {
    try Repository(opening: url, engines: [.sqlite, .lmdb], schema: schema, monitoring: monitoring)
  }

  /// Opens the store with a version, and writes movies as that version does.
  func fill<Form: Version>(_ form: Form.Type, rows: Int) throws {
    let repository = try open(App<Form>.self)
    for start in stride(from: 0, to: rows, by: 10_000) {
      try repository.save(
        contentsOf: (start..<min(rows, start + 10_000)).lazy.map { Grown<Form>(number: $0) })
    }
    try repository.close()
  }

  /// The time of an opening with a version.
  func opening(_ schema: any StoreSchema.Type) throws -> Double {
    var repository: Repository?
    let time = try seconds { repository = try open(schema) }
    try repository?.close()
    return time
  }
}

/// Reads all movies of a version; returns the time.
func scan<Form: Version>(_ form: Form.Type, _ repository: Repository, rows: Int) throws -> Double {
  var (count, sum) = (0, 0)
  let time = try seconds {
    for movie in try repository.filter(Grown<Form>.self).result() {
      count += 1
      sum &+= movie.votes &+ movie.title.utf8.count
    }
  }
  guard count == rows, sum > 0 else { throw Failure("\(count) movies were read, not \(rows)") }
  return time
}

/// Reads movies by their keys.
func find<Form: Version>(_ form: Form.Type, _ repository: Repository, rows: Int) throws -> Double {
  try seconds {
    for number in 0..<10_000 where try repository.find(Grown<Form>.self, id: number * 7919 % rows) == nil {
      throw Failure("a movie is missing")
    }
  }
}

/// Saves movies that exist in one transaction.
func save<Form: Version>(_ form: Form.Type, _ repository: Repository, rows: Int) throws -> Double {
  let movies = (0..<10_000).map { Grown<Form>(number: $0 * 7919 % rows) }
  return try seconds { try repository.save(contentsOf: movies) }
}
