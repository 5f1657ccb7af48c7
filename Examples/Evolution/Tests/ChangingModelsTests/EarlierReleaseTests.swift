import Foundation
import Persistence
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import Testing

/// Stores that release 0.1.0 wrote, before schemas could change; `Examples/Evolution/Fixtures/README.md` says how.
@Suite("Stores of the release before schema evolution")
final class EarlierReleaseTests {
  private static let schemes = ["sqlite", "lmdb", "json"]

  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  fileprivate enum Written {
    @Persistent("Movie")
    struct Movie: Hashable {
      var id: String
      @Indexed var title: String
      @Indexed var year: Int
      var rating: String?
      var minutes: Int
      var budget: Double?
      var releasedAt: Date?
      var directors: [String]
      var genre: String
    }
  }

  fileprivate enum Changed: StoreSchema {
    @Persistent("Film", was: "Movie")
    struct Film: Hashable {
      var id: String
      @Indexed var title: String
      @Indexed var year: Int
      @Field(was: "rating") var certificate: String?
      var stars: Int = 3
      var hours: Double
    }

    static let models: [any PersistentRecord.Type] = [Film.self]
    static let evolution: [EvolutionRule] = [
      .compute(\Film.hours, from: "minutes") { old in Double(try old("minutes", as: Int.self)) / 60 },
      .remove("budget", from: "Film"), .remove("releasedAt", from: "Film"), .remove("genre", from: "Film"),
      .remove("directors", from: "Film"),
    ]
  }

  /// Opens a copy of a fixture.
  private func copy(_ scheme: String) throws -> String {
    let names = ["sqlite": "movies.sqlite", "lmdb": "movies.lmdb", "json": "movies"]
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Fixtures/0.1.0").standardizedFileURL
    let copy = folder.appending(path: scheme)
    try FileManager.default.copyItem(at: fixtures.appending(path: names[scheme] ?? scheme), to: copy)
    return "\(scheme):\(copy.path)"
  }

  private func open(_ url: String, _ schema: (any StoreSchema.Type)? = nil) throws -> Repository {
    guard let schema else { return try Repository(opening: url, engines: [.sqlite, .lmdb, .json]) }
    return try Repository(opening: url, engines: [.sqlite, .lmdb, .json], schema: schema)
  }

  @Test("open unchanged, evolve, and are read the same after another opening", arguments: schemes)
  func evolve(scheme: String) throws {
    let url = try copy(scheme)
    let before = try open(url)
    let movies = Array(try before.filter(Written.Movie.self).result())
    #expect(movies.count == 8)
    #expect(
      try before.filter(Written.Movie.self, where: \.year >= 2000).sorted(by: \.title).result().count > 0)
    try before.close()

    for _ in 0..<2 {
      let after = try open(url, Changed.self)
      let films = Array(try after.filter(Changed.Film.self).result())
      #expect(films.map(\.id) == movies.map(\.id))
      #expect(films.map(\.title) == movies.map(\.title))
      #expect(films.map(\.certificate) == movies.map(\.rating))
      #expect(films.map(\.hours) == movies.map { Double($0.minutes) / 60 })
      #expect(films.allSatisfy { $0.stars == 3 })
      #expect(
        try after.filter(Changed.Film.self, where: \.year >= 2000 && \.stars == 3).sorted(by: \.title)
          .result().map(\.id)
          == movies.filter { $0.year >= 2000 }.sorted { $0.title < $1.title }.map(\.id))
      try after.close()
    }
    let error = #expect(throws: PersistenceError.self) { try open(url).count(Written.Movie.self) }
    #expect(error?.code == .newerStore)
  }

  @Test("are written by the version that wrote them, beside a newer one", arguments: schemes)
  func sideBySide(scheme: String) throws {
    enum Added: StoreSchema {
      static let models: [any PersistentRecord.Type] = [Longer.self]
    }
    let url = try copy(scheme)
    let (older, newer) = (try open(url), try open(url, Added.self))
    var movie = try #require(try older.filter(Written.Movie.self).result().first)
    movie.title = "Changed"
    try older.save(movie)
    let found = try #require(try newer.find(Longer.self, id: movie.id))
    #expect(found.title == "Changed" && found.stars == 5)
    try newer.save(Longer(id: movie.id, title: "Again", stars: 1))
    movie.title = "Again"
    #expect(try older.find(Written.Movie.self, id: movie.id) == movie)
    try older.close()
    try newer.close()
  }
}

/// The model with fewer properties, and one more.
@Persistent("Movie")
fileprivate struct Longer: Hashable {
  var id: String
  var title: String
  var stars: Int = 5
}
