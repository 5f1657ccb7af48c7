import Foundation
import Persistence
import Testing

/// `#Predicate` and `SortDescriptor` have the semantics of the same conditions of this package.
struct FoundationPredicateTests {
  enum Grade: String, Codable, PersistentValueConvertible { case low, high }

  @Persistent
  struct Film: Hashable {
    var id: Int
    var title: String
    var budget: Double
    var gross: Double?
    var grade: Grade?
    var isSequel: Bool
    var cast: [String] = []
  }

  private func repository() throws -> Repository {
    let repository = Repository(MemoryContext())
    try repository.save(
      contentsOf: (0..<60).map { id in
        Film(
          id: id, title: id % 7 == 0 ? "" : "T\(id)", budget: Double(id),
          gross: id % 3 == 0 ? nil : Double(id * 2), grade: id % 4 == 0 ? nil : (id % 2 == 0 ? .low : .high),
          isSequel: id % 5 == 0, cast: id % 6 == 0 ? ["a"] : [])
      })
    return repository
  }

  private func expectSame(
    _ foundation: Foundation.Predicate<Film>, _ ours: PersistentPredicate<Film>,
    location: SourceLocation = #_sourceLocation
  ) throws {
    let repository = try repository()
    let found = Array(try repository.filter(Film.self, where: foundation).result())
    let expected = Array(try repository.filter(Film.self, where: ours).result())
    #expect(found == expected, sourceLocation: location)
    #expect(
      !found.isEmpty && found.count < 60, "a condition that matches some rows, but not all",
      sourceLocation: location)
  }

  @Test("V6 comparisons, logic and nil")
  func logic() throws {
    let five = 5.0
    let low: Grade? = .low
    try expectSame(#Predicate { $0.budget == five || $0.title == "T7" }, \.budget == 5 || \.title == "T7")
    try expectSame(#Predicate { 30 < $0.budget && !$0.isSequel }, \.budget > 30 && \.isSequel == false)
    try expectSame(#Predicate { $0.gross != nil && $0.budget <= 20 }, \.gross != nil && \.budget <= 20)
    try expectSame(#Predicate { $0.grade == low }, \.grade == .low)
    try expectSame(#Predicate { $0.gross! >= 50 }, \.gross >= 50)
    try expectSame(#Predicate { $0.isSequel }, \.isSequel == true)
    try expectSame(#Predicate { $0.cast == [] }, \.cast == [])
  }

  @Test("V6 coalescing, chaining and unwrapping")
  func optionals() throws {
    try expectSame(#Predicate { ($0.gross ?? 700) > 60 }, \.gross > 60 || \.gross == nil)
    try expectSame(#Predicate { ($0.gross ?? 7) > 60 }, \.gross > 60)
    try expectSame(
      #Predicate {
        if let gross = $0.gross { gross > 50 } else { false }
      }, \.gross > 50)
    try expectSame(
      #Predicate {
        if let gross = $0.gross { gross > 50 } else { true }
      },
      \.gross > 50 || \.gross == nil)
    try expectSame(#Predicate { $0.gross.flatMap { $0 > 30 } == true }, \.gross > 30)
    try expectSame(#Predicate { $0.gross.flatMap { $0 > 30 } == false }, \.gross <= 30)
    try expectSame(#Predicate { $0.gross.flatMap { $0 > 30 } == nil }, \.gross == nil)
  }

  @Test("V7 text, sets and ranges")
  func collections() throws {
    let titles = ["T1", "T2", "nothing"]
    let range = 3.0...7.0
    let halfOpen = 3.0..<7.0
    try expectSame(#Predicate { $0.title.contains("1") }, .contains(\.title, "1"))
    try expectSame(#Predicate { !$0.title.starts(with: "T2") }, !.hasPrefix(\.title, "T2"))
    try expectSame(#Predicate { $0.title.isEmpty }, \.title == "")
    try expectSame(#Predicate { titles.contains($0.title) }, .in(\.title, ["T1", "T2"]))
    try expectSame(#Predicate { range.contains($0.budget) }, .between(\.budget, 3...7))
    try expectSame(#Predicate { halfOpen.contains($0.budget) }, \.budget >= 3 && \.budget < 7)
    try expectSame(#Predicate { (3.0...7.0).contains($0.budget) }, .between(\.budget, 3...7))
  }

  @Test("E2 an expression that stores cannot evaluate is rejected by name")
  func refusals() throws {
    let arithmetic = #expect(throws: PersistenceError.self) {
      try PersistentPredicate<Film>(#Predicate<Film> { $0.budget + 1 > 3 })
    }
    #expect(arithmetic?.code == .unsupported)
    #expect(arithmetic.map { $0.message.contains("Arithmetic") } == true)
    #expect(throws: PersistenceError.self) {
      try PersistentPredicate<Film>(#Predicate<Film> { $0.title.count > 3 })
    }
  }

  @Test("O2 sort descriptors become criteria; a localized order is rejected")
  func descriptors() throws {
    let repository = try repository()
    let films = try repository.filter(Film.self)
      .sorted(
        by: SortDescriptor(\Film.title, comparator: .lexical), SortDescriptor(\Film.budget, order: .reverse)
      )
      .result()
    let expected = try repository.filter(Film.self).sorted(by: \.title).sorted(
      by: \.budget, inOrder: .descending
    )
    .result()
    #expect(Array(films) == Array(expected))
    #if canImport(Darwin)
      #expect(throws: PersistenceError.self) {
        try SortCriterion<Film>(SortDescriptor(\.title, comparator: .localizedStandard))
      }
    #endif
  }
}
