import Foundation
import Persistence
import Testing

@Suite("Guide: Recipes")
struct RecipesTests {
  @Test("each listing is part of a file that is compiled")
  func listings() throws {
    try GuideListings.expect(in: "Recipes.md", partsOf: ["Recipes.swift", "MountedStore.swift"], atLeast: 10)
  }

  private func filled() throws -> Repository {
    let repository = try Repository(opening: "memory:", engines: [])
    let films = [("Alien", 1979), ("Ran", 1985), ("100% Wolf", 2020), ("Amour", 2012)]
    try repository.save(contentsOf: films.map { Film(id: UUID(), imdbID: nil, title: $0, year: $1) })
    return repository
  }

  @Test("the recipes do what the guide says")
  func recipes() async throws {
    let repository = try filled()
    #expect(try Recipes.compositeKeys(repository) == Seat(hall: "Rex", number: 12, price: 9.5))
    #expect(try Recipes.conditions(repository).sorted() == ["100% Wolf", "Alien", "Alien", "Amour"])
    let first = try Recipes.page(of: repository, after: nil)
    #expect(first.titles == ["100% Wolf", "Alien", "Amour", "Ran"] && first.next == nil)
    #expect(try await Recipes.asynchronous(repository).map(\.title) == ["100% Wolf", "Amour", "Ran", "Ran"])
    try repository.save(Ticket(id: 1, hall: "Rex"))
    #expect(try repository.find(Ticket.self, id: 1)?.hall == "Rex")
    try repository.save(Draft(id: 1, text: "x"))
    #expect(try Recipes.ownSQL(repository) == [])
  }
}
