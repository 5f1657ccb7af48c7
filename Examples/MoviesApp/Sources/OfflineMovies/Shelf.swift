#if HTTP
  import DataAccess
  import Persistence
  import PersistenceRemote
  import PersistenceSQLite

  /// The shelf on this device: a layered data source over a cache, a SQLite file and the server.
  ///
  /// Writes start in the file, so the app works offline. The outbox in the same file sends them when the server
  /// is reachable.
  struct Shelf {
    let movies: LayeredDataSource<Movie>
    private let repository: Repository

    init(file: String, server: String) throws {
      repository = try Repository(opening: "sqlite:\(file)", engines: [.sqlite])
      var options = LayerOptions<Movie>()
      options.writes = .localFirst
      (options.remote.timeout, options.remote.deadline) = (.seconds(5), .seconds(5))
      // If another device has changed the movie, keep its title and our stars.
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
          "\(movie.title) (\(movie.year))\(movie.stars.map { " " + String(repeating: "*", count: $0) } ?? "")"
        )
      }
      let age = answer.age.map { "\($0.components.seconds) s old" } ?? "of unknown age"
      note(
        "\(answer.value.count) movies, from the \(answer.source.rawValue) layer, \(age)"
          + (answer.isComplete ? "" : ", possibly incomplete"))
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

    /// Sends waiting changes, and fetches those of other devices.
    func sync() async throws {
      try await movies.outbox?.send()
      let answer = try await movies.answer(to: FetchOptions(), strategy: .upToDateWithFallback)
      if let failure = answer.failures.first { throw failure.error }
      note("synchronized with the server: \(answer.value.count) movies")
      try await report()
    }

    /// Prints the changes that have not arrived.
    func report() async throws {
      guard let outbox = movies.outbox else { return }
      // Try to send at once; without a server this fails, and the changes wait.
      try? await outbox.send()
      let waiting = try await outbox.count()
      if waiting > 0 { note("\(waiting) changes wait for the server") }
      for entry in try await outbox.setAside() {
        note(
          "rejected: \(entry.changes.map { "\($0.map(\.object.id))" } ?? "an unreadable change"): \(entry.error.map { "\($0)" } ?? "")"
        )
      }
    }

    func close() throws { try repository.close() }
  }
#endif
