import Comparing
import Foundation
import Movies
import PersistenceCore

/// Reads through the library, beside reads of the same tables through libpq.
struct Reading {
  let stores: Stores
  let library: Repository
  let raw: RawReader
  let rows: Int
  private let rounds = 15

  init(_ stores: Stores, rows: Int) throws {
    (self.stores, self.rows) = (stores, rows)
    library = try Stores.open(stores.store)
    raw = try RawReader(stores.url, table: stores.table)
  }

  func comparisons() throws -> [Comparison] {
    [try gets(), try arrays(), try iteration(), try filters(), try counts(), try firstTen()]
  }

  private func require(_ isRight: Bool, _ what: String) throws {
    guard isRight else { throw Failure("\(what) is wrong") }
  }

  /// Keys that are spread over the movies.
  private var keys: [Int64] { (0..<1_000).map { Int64($0 * 7919 % rows) } }

  private func gets() throws -> Comparison {
    let keys = keys
    return try Comparison("get, 1,000 of \(rows)", beside: "libpq", .ratio(1.15), rounds: rounds) {
      try seconds { for key in keys { try require(raw.get(key)?.id == key, "a movie") } }
    } library: {
      try seconds { for key in keys { try require(library.find(Movie.self, id: key)?.id == key, "a movie") } }
    }
  }

  /// The movies as an array of libpq's rows.
  private func rawArray() throws -> [Movie] {
    var movies: [Movie] = []
    try raw.all { movies.append($0) }
    return movies
  }

  private func arrays() throws -> Comparison {
    try Comparison("fetch, \(rows) in an array", beside: "libpq", .ratio(1.15), rounds: rounds) {
      try seconds { try require(rawArray().count == rows, "the number of movies") }
    } library: {
      try seconds {
        let movies = Array(try library.filter(Movie.self).result())
        try require(movies.count == rows, "the number of movies")
      }
    }
  }

  /// Reads without keeping the movies, which libpq's array keeps.
  private func iteration() throws -> Comparison {
    try Comparison("iterate, \(rows)", beside: "libpq's array", .ratio(0.85), rounds: rounds) {
      try seconds { try require(rawArray().count == rows, "the number of movies") }
    } library: {
      try seconds {
        var (count, votes) = (0, 0)
        try library.filter(Movie.self).result().forEach { movie in
          count += 1
          votes += movie.votes
        }
        try require(count == rows && votes > 0, "the number of movies")
      }
    }
  }

  /// Ranges of the indexed titles, each with about a hundredth of the movies.
  private func filters() throws -> Comparison {
    let ranges = "123456789abcdef".map { ("Movie \($0)0", "Movie \($0)6") }
    return try Comparison("indexed filter, 1 % of \(rows)", beside: "libpq", .ratio(1.10), rounds: rounds) {
      try seconds {
        for (first, last) in ranges {
          try require(!raw.filter(from: first, to: last).isEmpty, "a filter")
        }
      }
    } library: {
      try seconds {
        for (first, last) in ranges {
          let movies = Array(
            try library.filter(Movie.self, where: \.title >= first && \.title < last).result())
          try require(!movies.isEmpty, "a filter")
        }
      }
    }
  }

  private func counts() throws -> Comparison {
    try Comparison("count of \(rows)", beside: "libpq", .ratio(1.05), rounds: rounds) {
      try seconds { for _ in 0..<10 { try require(raw.count() == rows, "a count") } }
    } library: {
      try seconds { for _ in 0..<10 { try require(library.count(Movie.self) == rows, "a count") } }
    }
  }

  /// The first ten movies of a store that a new context opens, beside a new connection and one round trip.
  private func firstTen() throws -> Comparison {
    try Comparison("open, first ten of many", beside: "connect, one query", .ratio(1.3), rounds: 31) {
      let statement =
        "SELECT \(BinaryMovie.columns.joined(separator: ", ")) FROM \(stores.manyTable) ORDER BY \"id\" LIMIT 10"
      // The connection is closed after the measurement.
      var connection: RawPostgres?
      let time = try seconds {
        let opened = try RawPostgres(stores.url)
        try require(opened.movies(statement).count == 10, "the number of movies")
        connection = opened
      }
      withExtendedLifetime(connection) {}
      return time
    } library: {
      var repository: Repository?
      let time = try seconds {
        let opened = try Stores.open(stores.manyStore)
        var found = 0
        for movie in try opened.filter(Movie.self).result().prefix(10) where !movie.title.isEmpty {
          found += 1
        }
        try require(found == 10, "the number of movies")
        repository = opened
      }
      try repository?.close()
      return time
    }
  }
}
