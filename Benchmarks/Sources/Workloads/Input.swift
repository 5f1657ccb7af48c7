import Foundation
import SeededRandom

/// What all contenders are given: the same movies, keys and changes in every run.
struct Input {
  /// The movies, in the order of their keys.
  let movies: [Movie]
  /// The keys of the point reads.
  let keys: [Int64]
  /// Movies that replace those of the same keys, in no order.
  let changes: [Movie]
  /// What the rows that are committed one by one are.
  let singles: [Movie]

  /// The movies with titles of which there is one each, in the order of the titles' bytes.
  let byTitle: [Movie]
  /// The movies in the order of their UUIDs' bytes.
  let byUUID: [Movie]
  /// The keys of the point reads by title.
  let titles: [String]
  /// The keys of the point reads by UUID.
  let uuids: [UUID]

  /// Votes that one movie of fifty has.
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
    // Odd times a number, of 32 bits: no two are the same.
    let titled = all.map { movie in
      var movie = movie
      let mark = String(UInt32(truncatingIfNeeded: movie.id) &* 2_654_435_761, radix: 36)
      movie.title = "\(mark) is a movie's title".padding(toLength: 20, withPad: " ", startingAt: 0)
      return movie
    }
    byTitle = titled.sorted { $0.title.utf8.lexicographicallyPrecedes($1.title.utf8) }
    byUUID = all.sorted { left, right in
      withUnsafeBytes(of: left.uuid.uuid) { left in
        withUnsafeBytes(of: right.uuid.uuid) { left.lexicographicallyPrecedes($0) }
      }
    }
    titles = keys.map { titled[Int($0)].title }
    uuids = keys.map { all[Int($0)].uuid }
    singles = (0..<count).map(Movie.init(number:))
  }
}
