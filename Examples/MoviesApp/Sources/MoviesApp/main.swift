import Foundation
import Persistence
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite

// The URL selects the engine: an argument, or the environment variable MOVIES_URL. Two more arguments add a viewing.
let arguments = CommandLine.arguments.dropFirst()
let url = arguments.first ?? ProcessInfo.processInfo.environment["MOVIES_URL"]

do {
  guard let url else {
    throw PersistenceError(
      .invalidURL,
      "name a store, as in MoviesApp sqlite:movies.sqlite, or set MOVIES_URL; json:, lmdb: and memory: work too"
    )
  }
  let repository: any PersistentRepository = try Repository(opening: url, engines: [.sqlite, .lmdb, .json])
  let shelf = MovieShelf(repository)
  let seen = arguments.dropFirst()
  if let movie = seen.first, let stars = seen.dropFirst().first.flatMap({ Int($0) }) {
    try shelf.see(movie, stars: stars)
  }
  try shelf.show()
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
