import Testing

/// `MainActorTests` has such models in a module that is isolated to the main actor by default.
@Suite("Models of the main actor in a module without default isolation")
struct IsolatedModelTests {
  private static let models = """
    import Persistence

    @MainActor
    @Persistent
    struct Film: Hashable {
      struct Credit: Codable, Hashable { var name = ""; var role: String? }
      @ID var list: String
      @ID var number: Int
      @Unique var link: String?
      @Indexed var title = ""
      var credit = Credit()
      var shown: String { title.uppercased() }
      mutating func rename(_ title: String) { self.title = title }
      #Index<Film>([\\.title, \\.number])
    }

    @MainActor struct Label: Codable { var text = "" }

    @MainActor
    @Persistent
    struct Shelf {
      var id: Int
      var label: Label?
    }

    func titles(_ repository: Repository) throws -> [String] {
      try repository.filter(Film.self, where: \\.title == "x" && \\.credit.role == nil)
        .sorted(by: \\.number).result().map(\\.title)
    }

    @MainActor func show(_ repository: Repository) throws -> String? {
      var film = Film(list: "a", number: 1, link: nil)
      film.rename("x")
      try repository.save(film)
      return try repository.filter(Film.self, where: \\.link == nil).first()?.shown
    }

    actor Library {
      func count(_ repository: Repository) throws -> Int {
        try repository.filter(Film.self, where: .hasPrefix(\\.title, "x")).count()
      }
    }

    """

  private static let options = [
    [],
    [
      "-enable-upcoming-feature", "NonisolatedNonsendingByDefault", "-enable-upcoming-feature",
      "InferIsolatedConformances",
    ],
  ]

  @Test("they compile without a remark, and so does their use on and off the main actor", arguments: options)
  func models(options: [String]) throws {
    let remarks = try Typechecker.remarks(onModels: Self.models, options: options)
    #expect(remarks.isEmpty, "\(remarks)")
  }

  @Test("their own isolated members are refused elsewhere, in the line of the use", arguments: options)
  func misuse(options: [String]) throws {
    let line = Self.models.split(separator: "\n", omittingEmptySubsequences: false).count
    let remarks = try Typechecker.remarks(
      onModels: Self.models + "func shown(_ film: Film) -> String { film.shown }\n", options: options)
    #expect(remarks.filter { $0.text.hasPrefix("error:") }.map(\.line) == [line], "\(remarks)")
    #expect(remarks.first?.text.contains("main actor-isolated property 'shown'") == true, "\(remarks)")
  }
}
