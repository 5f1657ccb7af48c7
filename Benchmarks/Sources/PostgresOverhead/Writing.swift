import Comparing
import Foundation
import Movies
import PersistenceCore
import Synchronization

/// Writes through the library, beside writes through libpq to tables with the same columns and indexes.
struct Writing {
  let stores: Stores
  let library: Repository
  let rows: Int
  private let writers = 32

  init(_ stores: Stores, rows: Int) throws {
    (self.stores, self.rows) = (stores, rows)
    library = try Stores.open(stores.store)
  }

  func comparisons() throws -> [Comparison] {
    // The last two leave more in libpq's table.
    [
      try durableWrites(), try copies(), try observedWriters(), try numberedWrites(), try numberedWriters(),
    ]
  }

  private func rawWriter() throws -> RawWriter {
    try RawWriter(
      stores.url, table: stores.rawTable, gate: stores.rawGate, version: stores.rawVersion,
      log: stores.rawLog)
  }

  /// Changed movies, which are in the tables.
  private var changes: [Movie] {
    (0..<200).map { number in
      var movie = Movie(number: number * 7919 % rows)
      movie.votes += 1
      return movie
    }
  }

  /// What the contract costs libpq: the share of the library's overhead that is none of its own.
  private func numberedWrites() throws -> Comparison {
    let raw = try rawWriter()
    let movies = changes
    return try Comparison("200 by libpq, with their numbers", beside: "libpq", .none, rounds: 9) {
      try seconds { for movie in movies { try raw.save(movie) } }
    } library: {
      try seconds { for movie in movies { try raw.save(movie, isNumbered: true) } }
    }
  }

  /// Transactions of one write, one after the other.
  private func durableWrites() throws -> Comparison {
    let raw = try rawWriter()
    let movies = changes
    return try Comparison("durable write, 200", beside: "libpq", .ratio(1.05), rounds: 9) {
      try seconds { for movie in movies { try raw.save(movie) } }
    } library: {
      try seconds { for movie in movies { try library.save(movie) } }
    }
  }

  /// New movies in one transaction, into a table that is almost empty.
  private func copies() throws -> Comparison {
    let movies = (0..<100_000).map(Movie.init(number:))
    var round = 0
    /// Makes a store and a table for one measurement of either side.
    func measure(_ body: (Repository, String) throws -> Double) throws -> Double {
      round += 1
      let (store, table) = try stores.makeEmpty(round)
      let time = try body(store, table)
      try store.close()
      try stores.removeEmpty(round)
      return time
    }
    return try Comparison("insert \(movies.count)", beside: "COPY", .ratio(1.4), rounds: 7) {
      try measure { _, table in
        let connection = try RawPostgres(stores.url)
        return try seconds { try connection.copy(movies, into: table) }
      }
    } library: {
      try measure { store, _ in try seconds { try store.insert(contentsOf: movies) } }
    }
  }

  /// Writers at the same time, each with a connection of its own, while an observer of the library follows their commits.
  ///
  /// Nobody reads what libpq's writers add to their table of commits. The goal is 0.8 of libpq's throughput, which is 1.25 of
  /// its time.
  private func observedWriters() throws -> Comparison {
    let raw = try (0..<writers).map { _ in try rawWriter() }
    var next = 1_000_000_000
    let isObserving = DispatchSemaphore(value: 0)
    let observer = Task.detached { [library] in
      for try await update in library.updates(of: Movie.self) where update.changes == .first {
        isObserving.signal()
      }
    }
    defer { observer.cancel() }
    guard isObserving.wait(timeout: .now() + 60) == .success else {
      throw Failure("the observer did not start")
    }
    let library = library
    return try Comparison("\(writers) writers, observed", beside: "libpq", .ratio(1.25), rounds: 9) {
      try insert(from: &next) { try raw[$0].insert($1) }
    } library: {
      try insert(from: &next) { try library.insert($1) }
    }
  }

  /// What the contract costs that many writers of libpq.
  private func numberedWriters() throws -> Comparison {
    let raw = try (0..<writers).map { _ in try rawWriter() }
    var next = 2_000_000_000
    return try Comparison("\(writers) of libpq, with numbers", beside: "libpq", .none, rounds: 9) {
      try insert(from: &next) { try raw[$0].insert($1) }
    } library: {
      try insert(from: &next) { try raw[$0].insert($1, isNumbered: true) }
    }
  }

  /// The time in which all writers insert movies with keys that no writer has used.
  private func insert(
    from next: inout Int, _ insert: @escaping @Sendable (_ writer: Int, Movie) throws -> Void
  ) throws -> Double {
    let (first, steps) = (next, 25)
    next += writers * steps
    return try seconds {
      try together(writers) { number in
        for step in 0..<steps { try insert(number, Movie(number: first + number * steps + step)) }
      }
    }
  }

  /// Runs a closure on some threads at once, and throws the error of one of them.
  private func together(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        do { try body(number) } catch { failure.withLock { $0 = error } }
        group.leave()
      }
    }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
