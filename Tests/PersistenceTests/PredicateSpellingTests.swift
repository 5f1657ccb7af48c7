import Foundation
import Persistence
import Testing

/// The result of an operator if the package's operator rejects the operands, which proves the rejection.
private struct Refused {}

@_disfavoredOverload
private func == <Value, Other>(property: KeyPath<Movie, Value>, other: Other) -> Refused { Refused() }

@_disfavoredOverload
private func < <Value, Other>(property: KeyPath<Movie, Value>, other: Other) -> Refused { Refused() }

@Suite("The compiler checks predicates written with operators")
struct PredicateSpellingTests {
  private func text(_ predicate: PersistentPredicate<Movie>) -> String { predicate.description }

  @Test("comparisons with a value of another type do not compile")
  func refused() {
    #expect(type(of: \Movie.title == 200) == Refused.self)
    #expect(type(of: \Movie.budget == "x") == Refused.self)
    #expect(type(of: \Movie.rating == 1) == Refused.self)
    #expect(type(of: \Movie.cast < ["x"]) == Refused.self)
    #expect(type(of: \Movie.budget < nil as Double?) == Refused.self)
    #expect(type(of: \Movie.title == "x") == PersistentPredicate<Movie>.self)
  }

  @Test("V6 nil is equal to nil, and .none means nil")
  func nils() {
    let none: PersistentPredicate<Movie> = \.rating == .none
    let isNil: PersistentPredicate<Movie> = \.rating == nil
    #expect(none == isNil)
    #expect(isNil.node == .comparison(field: "rating", .equal, .null))
    let isNotNil: PersistentPredicate<Movie> = \.rating != nil
    #expect(isNotNil.node == .comparison(field: "rating", .notEqual, .null))
  }

  @Test("all operators and functions, on properties and optional properties")
  func operators() throws {
    let date = Date(timeIntervalSinceReferenceDate: 0)
    let predicates: [PersistentPredicate<Movie>] = [
      \.title == "a", \.title != "a", \.budget < 1, \.budget <= 1, \.budget > 1, \.budget >= 1,
      \.releasedAt < date, \.releasedAt >= date, \.releasedAt == date, \.budget == \.budget,
      \.releasedAt <= \.releasedAt, \.rating == .pg13, .in(\.rating, [.pg, .r]), .in(\.title, ["a"]),
      .between(\.budget, 1...9), .between(\.releasedAt, date...date), .contains(\.title, "x"),
      .hasPrefix(\.title, "x", caseInsensitive: true), .hasSuffix(\.imdbID, "x"), .like(\.title, "a%"),
      .matches(\.imdbID, "^tt[0-9]+$"), \.cast == ["a"], \.cast != [], !(\.budget > 1), .all, .none,
    ]
    for predicate in predicates {
      let coded = try JSONDecoder().decode(
        PersistentPredicate<Movie>.self, from: JSONEncoder().encode(predicate))
      #expect(coded == predicate)
      #expect(!predicate.description.isEmpty)
    }
  }

  @Test("twenty clauses are type-checked in reasonable time")
  func twentyClauses() throws {
    let predicate: PersistentPredicate<Movie> =
      \.title == "a" && \.title != "b" && \.budget > 1 && \.budget < 9 && \.rating == .pg13
      && \.rating != nil && \.releasedAt == nil && \.imdbID == "tt" && \.budget >= 1 && \.budget <= 9
      || \.title == "c" && \.title != "d" && \.budget > 1 && \.budget < 9 && \.rating == .r
        && !.hasPrefix(\.title, "The ") && .contains(\.title, "x") && .in(\.rating, [.g, .pg])
        && .between(\.budget, 1...9) && \.cast == ["a", "b"]
    guard case .any(let sides) = predicate.node else {
      Issue.record("\(predicate)")
      return
    }
    #expect(sides.count == 2)
    for case .all(let clauses) in sides { #expect(clauses.count == 10) }
  }

  @Test("Foundation predicates and sort descriptors on a model from the macro")
  func foundation() throws {
    let repository = Repository(MemoryContext())
    for number in 0..<10 {
      try repository.save(
        Movie(
          id: UUID(), title: "T\(number)", rating: .g, budget: Double(number), imdbID: nil, releasedAt: nil))
    }
    let found = try repository.filter(
      Movie.self, where: #Predicate<Movie> { $0.budget > 5 && $0.title != "T7" }
    )
    .sorted(by: SortDescriptor(\.budget, order: .reverse)).result()
    #expect(found.map(\.title) == ["T9", "T8", "T6"])
  }
}
