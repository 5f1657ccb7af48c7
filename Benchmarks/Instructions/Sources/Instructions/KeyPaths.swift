import PersistenceCore
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite

/// The counted operations on the library's public API, in the order of their run.
struct CountedWork {
  let name: String
  /// The unit of the operation.
  let unit: String
  let units: Int
  /// Runs the operation; an uncounted run comes first, and has the same results.
  let run: () throws -> Int
  /// The result of a run, which shows that it worked.
  let answer: Int
  /// Restores the store between runs.
  var restore: () throws -> Void = {}
}

/// The counted operations on one engine's store.
struct KeyPaths {
  private let store: Repository
  /// A separate store for the movies by other keys, so that it does not affect the inserts.
  private let storeByOtherKeys: Repository
  private let engine: Engine
  private let url: String
  private let movies: [Movie]
  /// A number of votes that one movie in ten has.
  private static let manyVotes = 900_000

  init(_ engine: Engine, in folder: String) throws {
    self.engine = engine
    movies = (0..<engine.rows).map(Movie.init(number:))
    url = engine.url("movies", in: folder)
    store = try Self.open(url)
    try store.insert(contentsOf: movies)
    try store.insert(contentsOf: movies.map(IndexedMovie.init))
    storeByOtherKeys = try Self.open(engine.url("by-other-keys", in: folder))
    try storeByOtherKeys.insert(contentsOf: movies.map(TitledMovie.init))
    try storeByOtherKeys.insert(contentsOf: movies.map(UniqueMovie.init))
  }

  private static func open(_ url: String) throws -> Repository {
    try Repository(
      opening: url, engines: [.sqlite, .lmdb, .json],
      monitoring: Monitoring(logger: .init(label: "instructions") { _ in SilentLog() }))
  }

  func all() -> [CountedWork] { reading() + readingByOtherKeys() + writing() + opening() }

  private func readingByOtherKeys() -> [CountedWork] {
    let repository: any PersistentRepository = storeByOtherKeys
    let rows = movies.count
    let wanted = stride(from: 0, to: rows, by: 4).map { movies[$0 * 7919 % rows] }
    return [
      CountedWork(
        name: "fetch all, string keys", unit: "row", units: rows,
        run: { Array(try repository.filter(TitledMovie.self).result()).count }, answer: rows),
      CountedWork(
        name: "get by key, string keys", unit: "get", units: wanted.count,
        run: { try wanted.count { try repository.find(TitledMovie.self, id: $0.title) != nil } },
        answer: wanted.count),
      CountedWork(
        name: "fetch all, UUID keys", unit: "row", units: rows,
        run: { Array(try repository.filter(UniqueMovie.self).result()).count }, answer: rows),
      CountedWork(
        name: "get by key, UUID keys", unit: "get", units: wanted.count,
        run: { try wanted.count { try repository.find(UniqueMovie.self, id: $0.uuid) != nil } },
        answer: wanted.count),
    ]
  }

  /// Reopens the store as a new process does, while no other context has it open.
  private func opening() -> [CountedWork] {
    let url = url
    return [
      CountedWork(
        name: "open and get one", unit: "opening", units: 4,
        run: {
          try store.close()
          for _ in 0..<4 {
            let repository = try Self.open(url)
            _ = try repository.find(Movie.self, id: 17)
            try repository.close()
          }
          return 4
        }, answer: 4)
    ]
  }

  private func reading() -> [CountedWork] {
    let repository: any PersistentRepository = store
    let rows = movies.count
    let keys = stride(from: 0, to: rows, by: 4).map { Int64($0 * 7919 % rows) }
    let many = movies.count { $0.votes >= Self.manyVotes }
    let few = movies.prefix(20).map(\.votes)
    let fewFound = few.reduce(0) { count, votes in count + movies.count { $0.votes == votes } }
    let tenFound = few.reduce(0) { count, votes in count + min(10, movies.count { $0.votes >= votes }) }
    return [
      CountedWork(
        name: "fetch all", unit: "row", units: rows,
        run: { Array(try repository.filter(Movie.self).result()).count }, answer: rows),
      CountedWork(
        name: "iterate", unit: "row", units: rows,
        run: {
          var count = 0
          for movie in try repository.filter(Movie.self).result() where movie.id >= 0 { count += 1 }
          return count
        }, answer: rows),
      CountedWork(
        name: "get by key", unit: "get", units: keys.count,
        run: { try keys.count { try repository.find(Movie.self, id: $0) != nil } }, answer: keys.count),
      CountedWork(
        name: "filter and sort, index", unit: "row found", units: many,
        run: {
          let query = repository.filter(IndexedMovie.self, where: \.movie.votes >= Self.manyVotes)
          return Array(try query.sorted(by: \.movie.title).result()).count
        }, answer: many),
      CountedWork(
        name: "a query for one, index", unit: "query", units: few.count,
        run: {
          try few.reduce(0) { count, votes in
            let query = repository.filter(IndexedMovie.self, where: \.movie.votes == votes)
            return count + Array(try query.result()).count
          }
        }, answer: fewFound),
      CountedWork(
        name: "the first ten from a value, index", unit: "query", units: few.count,
        run: {
          try few.reduce(0) { count, votes in
            let query = repository.filter(IndexedMovie.self, where: \.movie.votes >= votes)
            return count + Array(try query.sorted(by: \.movie.votes).limit(10).result()).count
          }
        }, answer: tenFound),
      CountedWork(
        name: "filter and sort, no index", unit: "row", units: rows,
        run: {
          let query = repository.filter(Movie.self, where: \.votes >= Self.manyVotes)
          return Array(try query.sorted(by: \.title).result()).count
        }, answer: many),
      CountedWork(
        name: "count", unit: "row", units: rows,
        run: { try repository.filter(Movie.self, where: \.votes >= Self.manyVotes).count() }, answer: many),
      CountedWork(
        name: "first ten", unit: "query", units: 20,
        run: {
          try (0..<20).reduce(0) { count, _ in
            count + Array(try repository.filter(Movie.self).result().prefix(10)).count
          }
        }, answer: 200),
    ]
  }

  private func writing() -> [CountedWork] {
    let repository: any PersistentRepository = store
    let (rows, movies) = (movies.count, movies)
    let first = Int64(rows)
    let new = (rows..<rows + rows / 4).map(Movie.init(number:))
    let indexed = new.map(IndexedMovie.init)
    let singles = Array(new.prefix(50))
    let changed = movies.prefix(rows / 4).map { movie in
      var movie = movie
      movie.votes += 1
      return movie
    }
    func removeNew() throws { _ = try repository.filter(Movie.self, where: \.id >= first).delete() }
    return [
      CountedWork(
        name: "insert", unit: "row", units: new.count,
        run: {
          try repository.insert(contentsOf: new)
          return new.count
        }, answer: new.count, restore: removeNew),
      CountedWork(
        name: "insert, index", unit: "row", units: new.count,
        run: {
          try repository.insert(contentsOf: indexed)
          return indexed.count
        }, answer: new.count,
        restore: { _ = try repository.filter(IndexedMovie.self, where: \.movie.id >= first).delete() }),
      CountedWork(
        name: "insert, a transaction each", unit: "row", units: singles.count,
        run: {
          for movie in singles { try repository.insert(movie) }
          return singles.count
        }, answer: singles.count, restore: removeNew),
      CountedWork(
        name: "update by key", unit: "row", units: changed.count,
        run: {
          try repository.update(contentsOf: changed)
          return changed.count
        }, answer: changed.count),
    ]
  }
}
