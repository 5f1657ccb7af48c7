import Foundation
import Persistence

/// Queries over movies, independent of the engine.
struct MovieShelf {
  private let repository: any PersistentRepository

  init(_ repository: any PersistentRepository) { self.repository = repository }

  /// Adds a viewing of a movie, which the store must contain.
  func see(_ movie: String, stars: Int) throws {
    try repository.insert(Viewing(id: UUID(), movie: Reference(movie), stars: stars))
  }

  /// Prints the results of some queries.
  func show() throws {
    let expensive = try repository.filter(Movie.self, where: \.rating == .thirteen && \.budget >= 150_000_000)
      .sorted(by: \.title)
      .result()
    print("PG-13 for 150 million and more, by title:")
    for movie in expensive { print("  \(line(movie))") }

    let long: AnyCollection<Movie> = try repository.fetch(
      Movie.self,
      options: FetchOptions(
        predicate: \.minutes > 180 && !.hasPrefix(\.title, "The "),
        sorting: [SortCriterion(\.minutes, order: .descending), SortCriterion(\.title)], limit: 5))
    print("The longest movies whose titles do not start with The:")
    for movie in long { print("  \(line(movie)), \(movie.minutes) minutes") }
    print("\(try repository.count(Movie.self)) movies in all")

    // One request for the viewings, and one for their movies.
    for (viewing, movie) in try repository.filter(Viewing.self).sorted(by: \.stars, inOrder: .descending)
      .sorted(by: \.movie, \.title).including(\.movie).result()
    {
      print("\(String(repeating: "★", count: max(0, viewing.stars))) \(line(movie))")
    }
  }

  private func line(_ movie: Movie) -> String {
    let budget = movie.budget.map { ", \(Int($0 / 1_000_000)) million" } ?? ""
    return "\(movie.title) (\(movie.year)), \(movie.directors.joined(separator: " and "))\(budget)"
  }
}
