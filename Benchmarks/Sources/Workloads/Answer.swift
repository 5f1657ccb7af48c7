/// The result of a contender, which must equal the results of the others.
struct Answer: Hashable, Codable, CustomStringConvertible {
  /// The number of movies.
  private(set) var count = 0
  /// A checksum of all or some of their fields, which depends on their order.
  private(set) var checksum: UInt64 = 0

  /// An empty answer.
  init() {}

  /// An answer with a number only.
  init(count: Int) { self.count = count }

  /// An answer with all fields of movies, in order.
  init(_ movies: some Sequence<Movie>) {
    for movie in movies { add(movie) }
  }

  var description: String { "\(count) movies, checksum \(String(checksum, radix: 16))" }

  /// Adds all fields of a movie, outside the measured time.
  mutating func add(_ movie: Movie) {
    addLightly(movie)
    for text in [movie.title, movie.genre, movie.rating.rawValue, movie.overview] {
      for byte in text.utf8 { mix(UInt64(byte)) }
    }
    withUnsafeBytes(of: movie.uuid.uuid) { bytes in for byte in bytes { mix(UInt64(byte)) } }
    mix(movie.budget.bitPattern)
    mix(movie.gross?.bitPattern ?? 1)
    mix(movie.releasedAt.timeIntervalSinceReferenceDate.bitPattern)
  }

  /// Adds a small part of a movie, whose cost is negligible beside reading it.
  mutating func addLightly(_ movie: borrowing Movie) {
    count += 1
    mix(UInt64(bitPattern: movie.id))
    mix(UInt64(truncatingIfNeeded: movie.votes + movie.title.utf8.count + movie.overview.utf8.count))
  }

  private mutating func mix(_ word: UInt64) {
    checksum = (checksum ^ word) &* 0x0000_0100_0000_01B3
  }
}
