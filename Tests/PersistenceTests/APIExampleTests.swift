import Foundation
import Persistence
import Testing

@Suite("The API by example")
struct APIExampleTests {
  let repository: any PersistentRepository
  let context = MemoryContext()
  let movies: [Movie]

  init() throws {
    repository = try Repository(opening: "memory:", engines: [])
    let ratings: [Rating?] = [.g, .pg, .pg13, .r, .nc17, nil]
    movies = (0..<60).map { number in
      Movie(
        id: UUID(), title: number.isMultiple(of: 2) ? "The \(number)" : "A \(number)",
        rating: ratings[number % 6], budget: Double(number) * 1_000_000, imdbID: nil, releasedAt: nil)
    }
    try repository.save(contentsOf: movies)
  }

  @Test("saving, changing and deleting, as in the examples")
  func writing() throws {
    let movie = movies[3]
    try repository.save(movie)  // insert or update
    try repository.save(contentsOf: movies)  // one transaction
    try repository.write(movie) { $0.budget += 1_000_000 }  // read, change, save in one transaction
    #expect(try repository.find(Movie.self, id: movie.id)?.budget == movie.budget + 1_000_000)
    try repository.delete(movie)
    #expect(try repository.find(Movie.self, id: movie.id) == nil)
    try repository.transaction { store in  // all or nothing, across models, nests
      try store.save(Library.Book(id: BookID(rawValue: 1), title: "b"))
      try store.transaction { inner in try inner.save(movie) }
    }
    #expect(try repository.count(Movie.self) == 60)
    try repository.deleteAll(Movie.self)
    #expect(try repository.count(Movie.self) == 0)
    #expect(try repository.count(Library.Book.self) == 1)
  }

  @Test("the generic form, and the static form that it dispatches to")
  func fetching() throws {
    let movies: AnyCollection<Movie> = try repository.fetch(
      Movie.self,
      options: FetchOptions(
        predicate: \.rating == .pg13 && \.budget >= 10_000_000,
        sorting: [SortCriterion(\.title), SortCriterion(\.budget, order: .descending)], limit: 20))
    let expected = self.movies.filter { $0.rating == .pg13 && $0.budget >= 10_000_000 }
      .sorted { $0.title < $1.title }
    #expect(Array(movies) == expected)
    #expect(try repository.count(Movie.self, options: FetchOptions(predicate: \.rating == .pg13)) == 10)
    let same = try Movie.fetch(in: context, options: nil)  // throws incompatibleContext if unsupported
    #expect(same.isEmpty)
  }

  @Test("the query form")
  func querying() throws {
    let lastMovie = movies[3]
    let page = try repository.filter(Movie.self, where: \.rating == .pg13 || !.hasPrefix(\.title, "The "))
      .sorted(by: \.title).sorted(by: \.budget, inOrder: .descending)
      .limit(20).after(lastMovie)
      .result()  // PersistentResults<Movie>: lazy, Sendable
    let expected = movies.filter { $0.rating == .pg13 || !$0.title.hasPrefix("The ") }
      .sorted { $0.title < $1.title }.filter { $0.title > lastMovie.title }.prefix(20)
    #expect(Array(page) == Array(expected))
    let query = repository.filter(Movie.self, where: \.budget < 10_000_000).sorted(by: \.title)
    #expect(try query.count() == 10)
    #expect(try query.first()?.title == "A 1")
    #expect(try query.exists())
    #expect(try query.offset(8).result().map(\.title) == ["The 6", "The 8"])
    #expect(try query.delete() == 10)
    #expect(try !query.exists())
    #expect(try repository.find(Movie.self, id: movies[40].id) == movies[40])  // by key, Movie?
  }

  @Test("W4 @Unique rejects a repeated value, but not a repeated nil")
  func unique() throws {
    var (first, second) = (movies[0], movies[1])
    first.imdbID = "tt1"
    second.imdbID = "tt1"
    try repository.save(first)
    let error = try #require(throws: PersistenceError.self) { try repository.save(second) }
    #expect(error.code == .uniqueViolation)
    #expect(error.field == "imdbID")
  }

  @Test("R4, C1 results have throwing iterations and cross threads")
  func results() async throws {
    let results = try repository.filter(Movie.self).result()
    var ids: [UUID] = []
    try results.forEach { ids.append($0.id) }
    let counted = await Task.detached { results.count }.value
    var streamed: [UUID] = []
    for try await movie in results.stream { streamed.append(movie.id) }
    #expect(ids == streamed)
    #expect(counted == 60)
    #expect(ids == movies.map(\.id).sorted { $0.uuidString < $1.uuidString })
  }
}
