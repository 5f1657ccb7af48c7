import DataAccess
import Persistence
import PersistenceRemote
import PersistenceSQLite

/// The shelf as this device sees it: a cache, a SQLite file and the server, behind one store.
///
/// It is written here first, so it works whether or not the server does; what the server has not got yet waits in the
/// file, next to the movies, and is sent when it is back.
struct Shelf {
  let movies: LayeredDataSource<Movie>
  private let repository: Repository

  init(file: String, server: String) throws {
    repository = try Repository(opening: "sqlite:\(file)", engines: [.sqlite])
    var options = LayerOptions<Movie>()
    options.writes = .localFirst
    options.remote = LayerLimits(timeout: .seconds(5), retry: .once)
    // Another device may have changed a movie meanwhile: its title counts, and our stars.
    options.conflicts = .merge { conflict in
      guard var movie = conflict.remote else { return .keepRemote }
      movie.stars = conflict.change.object.stars ?? movie.stars
      return .save(movie)
    }
    movies = try LayeredDataSource(
      cache: CacheDataSource(), local: repository.dataSource(of: Movie.self),
      remote: try RemoteServer(server).dataSource(of: Movie.self), options: options)
  }

  func list() async throws {
    let answer = try await movies.answer(to: movies.filter().sorted(by: \.title).options)
    for movie in answer.value {
      print(
        "\(movie.title) (\(movie.year))\(movie.stars.map { " " + String(repeating: "*", count: $0) } ?? "")")
    }
    let age = answer.age.map { "\($0.components.seconds) s old" } ?? "of unknown age"
    note(
      "\(answer.value.count) movies, from the \(answer.source.rawValue) store, \(age)"
        + (answer.isComplete ? "" : ", perhaps not all"))
  }

  func add(_ title: String, year: Int) async throws {
    let id = title.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "-") + "-\(year)"
    try await movies.insert(Movie(id: id, title: title, year: year, stars: nil))
    try await report()
  }

  func rate(_ id: String, stars: Int) async throws {
    guard let movie = try await movies.find(id) else {
      throw PersistenceError(.notFound, "there is no movie \(id) on the shelf")
    }
    var rated = movie
    rated.stars = stars
    try await movies.update(rated, replacing: movie)
    try await report()
  }

  func remove(_ id: String) async throws {
    guard let movie = try await movies.find(id) else {
      throw PersistenceError(.notFound, "there is no movie \(id) on the shelf")
    }
    try await movies.delete(movie)
    try await report()
  }

  /// Sends what waits, and fetches what others have changed.
  func sync() async throws {
    try await movies.outbox?.send()
    let answer = try await movies.answer(to: FetchOptions(), strategy: .upToDateWithFallback)
    if let failure = answer.failures.first { throw failure.error }
    note("in step with the server: \(answer.value.count) movies")
    try await report()
  }

  /// Says what has not arrived.
  func report() async throws {
    guard let outbox = movies.outbox else { return }
    // A moment for the server that is there, and none to wait for where it is not.
    try? await outbox.send()
    let waiting = try await outbox.count()
    if waiting > 0 { note("\(waiting) changes wait for the server") }
    for entry in try await outbox.setAside() {
      note(
        "refused: \(entry.changes.map { "\($0.map(\.object.id))" } ?? "an unreadable change"): \(entry.error.map { "\($0)" } ?? "")"
      )
    }
  }

  func close() throws { try repository.close() }
}
