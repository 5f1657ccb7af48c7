import Foundation
import Persistence
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite

// The URL selects the engine: an argument, or the environment variable MOVIES_URL.
let url = CommandLine.arguments.dropFirst().first ?? ProcessInfo.processInfo.environment["MOVIES_URL"]

do {
  guard let url else {
    throw PersistenceError(
      .invalidURL,
      "name a store, as in MoviesApp sqlite:movies.sqlite, or set MOVIES_URL; json:, lmdb: and memory: work too"
    )
  }
  let repository: any PersistentRepository = try Repository(opening: url, engines: [.sqlite, .lmdb, .json])
  try MovieShelf(repository).show()
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
