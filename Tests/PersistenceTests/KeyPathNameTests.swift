import Persistence
import Testing

/// A schema remembers the names of the key paths that a program has used first.
@Suite("The stored names of key paths")
struct KeyPathNameTests {
  /// Whether all names are right, by key paths that each call makes or finds again.
  private static func areRight(_ schema: RecordSchema<Movie>) -> Bool {
    let whole: KeyPath<Movie, Movie> = \Movie.self
    let budget: KeyPath<Movie, Double> = whole.appending(path: \.budget)
    let names: [(keyPath: AnyKeyPath, name: String?)] = [
      (\Movie.id, "id"), (\Movie.title, "title"), (\Movie.rating, "rating"), (\Movie.budget, "budget"),
      (\Movie.imdbID, "imdbID"), (\Movie.releasedAt, "releasedAt"), (\Movie.cast, "cast"),
      (budget, "budget"), (whole, nil), (\Movie.title.count, nil), (\Rating.rawValue, nil),
    ]
    return names.allSatisfy { pair in schema.name(of: pair.keyPath) == pair.name }
  }

  @Test("E3 a key path has one name, the first time and later, and another one has none")
  func names() {
    for _ in 0..<100 { #expect(Self.areRight(Movie.schema)) }
  }

  @Test("several threads find the names in one schema at once")
  func threads() async {
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask { (0..<1_000).allSatisfy { _ in Self.areRight(Movie.schema) } }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
