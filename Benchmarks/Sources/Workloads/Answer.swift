/// What a contender found, which must be what the others found.
struct Answer: Hashable, Codable, CustomStringConvertible {
  /// How many movies.
  private(set) var count = 0
  /// A checksum of all their fields, or of some; it depends on their order.
  private(set) var checksum: UInt64 = 0

  /// Nothing yet.
  init() {}

  /// A number alone.
  init(count: Int) { self.count = count }

  /// All fields of movies, in their order.
  init(_ movies: some Sequence<Movie>) {
    for movie in movies { add(movie) }
  }

  var description: String { "\(count) movies, checksum \(String(checksum, radix: 16))" }

  /// Adds all fields of a movie, outside of what is measured.
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

  /// Adds so little of a movie that adding does not count beside reading it.
  mutating func addLightly(_ movie: borrowing Movie) {
    count += 1
    mix(UInt64(bitPattern: movie.id))
    mix(UInt64(truncatingIfNeeded: movie.votes + movie.title.utf8.count + movie.overview.utf8.count))
  }

  private mutating func mix(_ word: UInt64) {
    checksum = (checksum ^ word) &* 0x0000_0100_0000_01B3
  }
}
