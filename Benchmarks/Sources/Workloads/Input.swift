import Foundation
import SeededRandom

/// The input of all contenders: the same movies, keys and changes in every run.
struct Input {
  /// The movies, in key order.
  let movies: [Movie]
  /// The keys of the point reads.
  let keys: [Int64]
  /// Movies that replace those with the same keys, in random order.
  let changes: [Movie]
  /// The movies that are committed one by one.
  let singles: [Movie]

  /// The keys of the point reads by title.
  let titles: [String]
  /// The keys of the point reads by UUID.
  let uuids: [UUID]

  /// A number of votes that one movie in fifty has.
  static let manyVotes = 980_000

  init(rows: Int, singles count: Int) {
    movies = (0..<rows).map(Movie.init(number:))
    var generator = SplitMix(state: 2026)
    let order = (0..<Int64(rows)).shuffled(using: &generator)
    keys = Array(order.prefix(10_000))
    let all = movies
    changes = order.suffix(10_000).map { key in
      var movie = all[Int(key)]
      movie.votes = (movie.votes + 1) % 1_000_000
      movie.title = String(movie.title.reversed())
      return movie
    }
    titles = keys.map(Self.title)
    uuids = keys.map { all[Int($0)].uuid }
    singles = (0..<count).map(Movie.init(number:))
  }

  /// The movies with unique titles, in the order of the titles' bytes; sorted on each call.
  var byTitle: [Movie] {
    let titled = movies.map { movie in
      var movie = movie
      movie.title = Self.title(movie.id)
      return movie
    }
    return titled.sorted { $0.title.utf8.lexicographicallyPrecedes($1.title.utf8) }
  }

  /// The movies in the order of their UUIDs' bytes; sorted on each call.
  var byUUID: [Movie] {
    movies.sorted { left, right in
      withUnsafeBytes(of: left.uuid.uuid) { left in
        withUnsafeBytes(of: right.uuid.uuid) { left.lexicographicallyPrecedes($0) }
      }
    }
  }

  /// Returns the unique title of a movie.
  private static func title(_ number: Int64) -> String {
    // An odd factor modulo 2^32, so no two are the same.
    let mark = String(UInt32(truncatingIfNeeded: number) &* 2_654_435_761, radix: 36)
    return "\(mark) is a movie's title".padding(toLength: 20, withPad: " ", startingAt: 0)
  }
}
