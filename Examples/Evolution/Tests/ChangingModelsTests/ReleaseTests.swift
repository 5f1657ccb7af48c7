import Foundation
import Persistence
import PersistenceConformance
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import Testing

@testable import EvolvingApp

/// Opens the stores of all releases, as the guide shows, and fails for planted mistakes.
@Suite("Guide: Changing your models, stores of releases")
final class ReleaseTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  @Test("the third version opens the stores of both releases on every engine")
  func releases() async throws {
    try SchemaHistory(of: Version1.self, in: folder).record(as: "1.0.0")
    try SchemaHistory(of: Version2.self, in: folder).record(as: "2.0.0")
    let tester = EvolutionTester(
      Version3.self, in: folder,
      values: ["Movie.length": ["0:58", "2:07"], "Film.rating": ["G", "PG", "R"]])
    try await tester.run(on: [.memory, .sqlite, .lmdb, .json]) { repository in
      for film in try repository.filter(Version3.Film.self).result() {
        #expect([58, 127].contains(film.minutes))
      }
    }
  }

  @Test("the app's own releases are those that the tester opens")
  func calls() async throws {
    try SchemaHistory(of: Before.self, in: folder).record(as: "1.0.0")
    try SchemaHistory(of: After.self, in: folder).record(as: "1.1.0")
    var calls = 0
    try await EvolutionTester(After.self, in: folder).run(on: [.memory, .sqlite, .lmdb, .json]) {
      repository in
      calls += 1
      let screenings = try repository.filter(After.Screening.self).result()
      #expect(screenings.count > 20)
      #expect(calls % 2 == 0 || screenings.allSatisfy { $0.code == nil && $0.added == .distantPast })
    }
    #expect(calls == 8)
  }

  @Test("the values of a nested value are given as its JSON, on every engine")
  func nested() async throws {
    try SchemaHistory(of: Billed.self, in: folder).record(as: "1.0.0")
    try await EvolutionTester(
      Billed.self, in: folder, values: ["Play.cast": ["[]", #"[ "Weaver", "Hurt" ]"#]]
    ).run(on: [.memory, .sqlite, .lmdb, .json]) { repository in
      let casts = Set(try repository.filter(Billed.Play.self).result().map(\.cast))
      #expect(casts == [[], ["Weaver", "Hurt"]])
    }
    let error = await #expect(throws: PersistenceError.self) {
      try await EvolutionTester(Billed.self, in: self.folder, values: ["Play.cast": ["Weaver"]])
        .run(on: [.memory])
    }
    #expect(error?.message.contains("JSON, such as \"[]\"") == true, "\(error.map { "\($0)" } ?? "")")
  }

  // MARK: - Planted mistakes

  private func failure(
    of schema: any StoreSchema.Type, _ values: [String: [any PersistentValueConvertible]] = [:],
    on engine: StorageEngine = .memory
  ) async throws -> String {
    let error = await #expect(throws: ConformanceFailure.self) {
      try await EvolutionTester(schema, in: self.folder, values: values).run(on: [engine])
    }
    return "\(try #require(error))"
  }

  @Test("an optional property that was renamed without was: is found, with the lost value")
  func renamed() async throws {
    try SchemaHistory(of: Titled.self, in: folder).record(as: "1.0.0")
    for engine in [StorageEngine.memory, .sqlite, .lmdb, .json] {
      let failure = try await failure(
        of: Renamed.self, ["Talk.subtitle": ["the lost value"]], on: engine)
      #expect(failure.contains("release 1.0.0 on \(engine.scheme): Talk.subtitle of the record ("))
      #expect(failure.contains("the lost value"), "\(failure)")
    }
  }

  @Test("a fill that differs from a release's is found, with both values")
  func fill() async throws {
    try SchemaHistory(of: Titled.self, in: folder).record(as: "1.0.0")
    try SchemaHistory(of: Filled.self, in: folder).record(as: "1.1.0")
    for engine in [StorageEngine.memory, .sqlite] {
      let failure = try await failure(of: FilledAnew.self, on: engine)
      #expect(failure.contains("release 1.0.0 on \(engine.scheme): Talk.hall of the record ("))
      #expect(failure.contains("expected: .text(\"1\")"), "\(failure)")
      #expect(failure.contains("found:    .text(\"2\")"), "\(failure)")
    }
  }

  @Test("a model that is gone without a rule is found")
  func goneModel() async throws {
    try SchemaHistory(of: Before.self, in: folder).record(as: "1.0.0")
    let failure = try await failure(of: Draftless.self)
    #expect(failure.contains("release 1.0.0 on memory: Draft"), "\(failure)")
  }

  @Test("an opening that fails is found, with its error")
  func unopened() async throws {
    try SchemaHistory(of: Before.self, in: folder).record(as: "1.0.0")
    let failure = try await failure(of: Unsaid.self, on: .sqlite)
    #expect(failure.contains("release 1.0.0 on sqlite"), "\(failure)")
    #expect(failure.contains("hall"), "\(failure)")
  }

  @Test("a rule that throws for a value asks for values")
  func throwingRule() async throws {
    try SchemaHistory(of: Version1.self, in: folder).record(as: "1.0.0")
    let failure = try await failure(of: Version3.self)
    #expect(failure.contains("is not a length in hours and minutes"), "\(failure)")
    #expect(failure.contains("give the tester values of Film.length"), "\(failure)")
  }

  @Test("an error of the closure names the release and the engine")
  func closure() async throws {
    struct Wrong: Error {}
    try SchemaHistory(of: Before.self, in: folder).record(as: "1.0.0")
    let error = await #expect(throws: ConformanceFailure.self) {
      try await EvolutionTester(After.self, in: self.folder).run(on: [.memory]) { _ in throw Wrong() }
    }
    #expect(error?.subject == "release 1.0.0 on memory" && error?.found == "Wrong()")
  }

  @Test("a history without releases, and values of no field or of another kind, are refused")
  func requests() async throws {
    func code(_ values: [String: [any PersistentValueConvertible]]) async -> PersistenceError.Code? {
      let error = await #expect(throws: PersistenceError.self) {
        try await EvolutionTester(After.self, in: self.folder, values: values).run(on: [.memory])
      }
      return error?.code
    }
    #expect(await code([:]) == .invalidRequest)
    try SchemaHistory(of: Before.self, in: folder).record(as: "1.0.0")
    #expect(await code(["Screening.stage": ["A"]]) == .invalidRequest)
    #expect(await code(["Screening.seats": ["many"]]) == .invalidRequest)
    #expect(await code(["Screening.seats": []]) == .invalidRequest)
  }
}

private enum Billed: StoreSchema {
  @Persistent("Play")
  struct Play {
    var id: Int
    var cast: [String] = []
  }

  static let models: [any PersistentRecord.Type] = [Play.self]
}

private enum Titled: StoreSchema {
  @Persistent("Talk")
  struct Talk {
    var id: Int
    var subtitle: String?
  }

  static let models: [any PersistentRecord.Type] = [Talk.self]
}

/// `subtitle` is renamed without a word.
private enum Renamed: StoreSchema {
  @Persistent("Talk")
  struct Talk {
    var id: Int
    var note: String?
  }

  static let models: [any PersistentRecord.Type] = [Talk.self]
}

private enum Filled: StoreSchema {
  @Persistent("Talk")
  struct Talk {
    var id: Int
    var subtitle: String?
    var hall: String = "1"
  }

  static let models: [any PersistentRecord.Type] = [Talk.self]
}

private enum FilledAnew: StoreSchema {
  @Persistent("Talk")
  struct Talk {
    var id: Int
    var subtitle: String?
    var hall: String = "2"
  }

  static let models: [any PersistentRecord.Type] = [Talk.self]
}

private enum Draftless: StoreSchema {
  static let models: [any PersistentRecord.Type] = [Before.Screening.self]
}
