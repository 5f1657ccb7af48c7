import Foundation
import Persistence
import PersistenceDriverSupport
import Testing

// This target has the setting of new app projects: everything is isolated to the main actor by default.

enum Certificate: String, Codable { case general = "G", restricted = "R" }

enum Format: Int, PersistentValueConvertible { case film, series }

/// A nested value outside of a model is isolated to the main actor, unless it says that it is not.
nonisolated struct Studio: Codable, Hashable {
  var name = ""
}

@Persistent
struct Production: Hashable {
  struct Credit: Codable, Hashable {
    var name = ""
    var role: String?
  }

  var id: Int
  var title: String
  @Indexed var certificate: Certificate = .general
  var format: Format?
  var credit = Credit()
  var studio: Studio?
  var tags: [String] = []

  #Index<Production>([\.certificate, \.title])
}

/// A model that is isolated explicitly.
@MainActor
@Persistent
struct Bookmark: Hashable {
  @ID var list: String
  @ID var number: Int
  @Unique var link: String?
  var credit: Production.Credit?
}

@Suite("Models in a module that is isolated to the main actor by default")
struct MainActorTests {
  private func repository() throws -> Repository {
    let repository = Repository(MemoryContext())
    try repository.save(
      contentsOf: (0..<9).map { number in
        var production = Production(id: number, title: "T\(number % 3)")
        production.certificate = number > 4 ? .restricted : .general
        production.format = number == 1 ? nil : .series
        production.credit.role = number == 2 ? "author" : nil
        production.studio = number == 3 ? Studio(name: "S") : nil
        production.tags = number == 4 ? ["new"] : []
        return production
      })
    return repository
  }

  @Test("E1 a model is saved, found and filtered by main-actor code")
  func onMainActor() throws {
    let repository = try repository()
    let found = try repository.find(Production.self, id: 2)
    #expect(found?.credit.role == "author")
    let restricted = repository.filter(
      Production.self, where: \.certificate == .restricted && \.title == "T2")
    #expect(try restricted.sorted(by: \.certificate).result().map(\.id) == [5, 8])
    #expect(try repository.filter(Production.self, where: \.studio?.name == "S").count() == 1)
    #expect(try repository.filter(Production.self, where: .contains(\.tags, "new")).first()?.id == 4)
    try repository.save(Bookmark(list: "a", number: 1, link: "x"))
    #expect(try repository.filter(Bookmark.self, where: \.link == "x").sorted(by: \.number).count() == 1)
  }

  @Test("E1 the same model is used off the main actor")
  func offMainActor() async throws {
    let repository = try repository()
    let titles = try await Self.titles(repository)
    #expect(titles == ["T0", "T0", "T1"])
  }

  @concurrent
  private nonisolated static func titles(_ repository: Repository) async throws -> [String] {
    try repository.save(Bookmark(list: "b", number: 2, link: nil))
    #expect(try repository.count(Bookmark.self) == 1)
    let query = repository.filter(Production.self, where: \.format != nil && \.credit.role == nil)
    return try query.sorted(by: \.id).limit(3).result().map(\.title)
  }
}
