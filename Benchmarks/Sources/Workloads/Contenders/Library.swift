import Foundation
import PersistenceCore
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import SilentLogging

/// This library's public API: an app's repository, with an engine named by a URL, and lazy results.
final class Library {
  private let store: Repository
  /// The repository, as in an app.
  let repository: any PersistentRepository
  private let location: Location
  let input: Input

  /// The location of an engine's store.
  struct Location {
    let engine: Engine
    let folder: Folder

    func url(_ name: String) -> String { "\(engine.rawValue):\(folder.path(name))" }

    /// The store of all models; those with keys that are not numbers are clustered, as the raw tables beside them are.
    var library: String { url("library") + (engine == .sqlite ? "?clustered=TitledMovie,UniqueMovie" : "") }
  }

  static let quiet = Monitoring(logger: .init(label: "benchmark") { _ in SilentLog() })

  init(_ location: Location, _ input: Input, filled: Bool = true) throws {
    self.location = location
    self.input = input
    store = try Self.open(location.library)
    repository = store
    guard filled else { return }
    try repository.insert(contentsOf: input.movies)
    if location.engine != .json { try repository.insert(contentsOf: input.movies.map(IndexedMovie.init)) }
    // The store for repeated opening is not open elsewhere.
    let other = try Self.open(location.url("opened"))
    try other.insert(contentsOf: input.singles)
    try other.close()
  }

  private static func open(_ url: String) throws -> Repository {
    try Repository(opening: url, engines: [.sqlite, .lmdb, .json], monitoring: quiet)
  }

  /// Creates a store with empty tables.
  private func withNewStore<Model: PersistentRecord>(
    of model: Model.Type, _ first: Model, _ body: (any PersistentRepository) throws -> Answer
  ) throws -> Answer {
    try location.folder.remove("new")
    let store = try Self.open(location.url("new"))
    try store.save(first)
    try store.deleteAll(model)
    let answer = try body(store)
    try store.close()
    return answer
  }

  private func content(of repository: any PersistentRepository) throws -> Answer {
    var answer = Answer()
    try repository.filter(Movie.self).result().forEach { answer.add($0) }
    return answer
  }
}

/// Reading.
extension Library {
  func fetchAll(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure { Array(try repository.filter(Movie.self).result()) }
    return Answer(movies)
  }

  func iterate(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for movie in try repository.filter(Movie.self).result() { answer.addLightly(movie) }
    }
    return answer
  }

  func getByKey(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for key in input.keys {
        if let movie = try repository.find(Movie.self, id: key) { answer.addLightly(movie) }
      }
    }
    return answer
  }

  func selectByIndex(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure {
      let query = repository.filter(IndexedMovie.self, where: \.movie.votes >= Input.manyVotes)
      return Array(try query.sorted(by: \.movie.title).result())
    }
    return Answer(movies.lazy.map(\.movie))
  }

  func selectByScan(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure {
      let query = repository.filter(Movie.self, where: \.votes >= Input.manyVotes)
      return Array(try query.sorted(by: \.title).result())
    }
    return Answer(movies)
  }

  func count(_ watch: inout Stopwatch) throws -> Answer {
    try watch.measure {
      Answer(count: try repository.filter(Movie.self, where: \.votes >= Input.manyVotes).count())
    }
  }

  func open(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    for movie in input.singles.prefix(Self.openings) {
      let (found, other) = try watch.measure {
        let other = try Self.open(location.url("opened"))
        return (try other.find(Movie.self, id: movie.id), other)
      }
      if let found { answer.add(found) }
      try other.close()
    }
    return answer
  }

  /// The number of openings in one run.
  static let openings = 20
}

/// Writing.
extension Library {
  func insertAll(_ watch: inout Stopwatch) throws -> Answer {
    try withNewStore(of: Movie.self, input.movies[0]) { store in
      try watch.measure { try store.insert(contentsOf: input.movies) }
      return try content(of: store)
    }
  }

  func insertAllIndexed(_ watch: inout Stopwatch) throws -> Answer {
    let movies = input.movies.map(IndexedMovie.init)
    return try withNewStore(of: IndexedMovie.self, movies[0]) { store in
      try watch.measure { try store.insert(contentsOf: movies) }
      return Answer(try store.filter(IndexedMovie.self).result().lazy.map(\.movie))
    }
  }

  func insertSingles(_ watch: inout Stopwatch) throws -> Answer {
    try withNewStore(of: Movie.self, input.singles[0]) { store in
      try watch.measure { for movie in input.singles { try store.insert(movie) } }
      return try content(of: store)
    }
  }

  func insertSinglesTogether(_ watch: inout Stopwatch) throws -> Answer {
    try withNewStore(of: Movie.self, input.singles[0]) { store in
      try watch.measure { try store.insert(contentsOf: input.singles) }
      return try content(of: store)
    }
  }

  func update(_ watch: inout Stopwatch) throws -> Answer {
    try watch.measure { try repository.update(contentsOf: input.changes) }
    return try content(of: repository)
  }

  func deleteAll(_ watch: inout Stopwatch) throws -> Answer {
    try withNewStore(of: Movie.self, input.movies[0]) { store in
      try store.insert(contentsOf: input.movies)
      try watch.measure { try store.deleteAll(Movie.self) }
      return try content(of: store)
    }
  }
}
