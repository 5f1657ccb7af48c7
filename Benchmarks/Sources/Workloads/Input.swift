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
    singles = (0..<count).map(Movie.init(number:))
  }
}
