import Foundation
import PersistenceCore
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import Testing

@testable import PersistenceConformance

/// References in the history of an app's releases (contract L1, S4).
@Suite("References of releases")
final class ReferenceReleaseTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func history(_ schema: any StoreSchema.Type) -> SchemaHistory {
    SchemaHistory(of: schema, in: folder)
  }

  /// The message of a check of code, after a release.
  private func message(_ schema: any StoreSchema.Type, after release: any StoreSchema.Type) throws -> String {
    try history(release).record(as: "1.0.0")
    let error = #expect(throws: PersistenceError.self) { try history(schema).record(as: "2.0.0") }
    return error?.message ?? ""
  }

  @Test("L1 a field that becomes a reference needs a word for records of before")
  func beginning() throws {
    let message = try message(FilmApp.Related.self, after: FilmApp.Plain.self)
    #expect(message.contains("Film.studio: refers to Studio now"), "\(message)")
    #expect(message.contains(".orphans("), "\(message)")
    try history(FilmApp.Settled.self).record(as: "2.0.0")
    try history(FilmApp.Settled.self).check()
  }

  @Test("L1 a field that stops being a reference needs a word")
  func ending() throws {
    let message = try message(FilmApp.Plain.self, after: FilmApp.Related.self)
    #expect(message.contains("Film.studio: referred to Studio"), "\(message)")
    #expect(message.contains(".remove(reference:)"), "\(message)")
    try history(FilmApp.Ended.self).record(as: "2.0.0")
    try history(FilmApp.Ended.self).check()
  }

  @Test("L1 current.json shows references and their rules")
  func recording() throws {
    try history(FilmApp.Plain.self).record(as: nil)
    let error = #expect(throws: PersistenceError.self) { try history(FilmApp.Settled.self).check() }
    let message = error?.message ?? ""
    #expect(
      message.contains("Film.director: string? → director: string?, refers to Performer (setNil)"),
      "\(message)")
    #expect(message.contains("orphans: cascade"), "\(message)")
    try history(FilmApp.Settled.self).record(as: nil)
    let text = try String(contentsOfFile: folder + "/current.json", encoding: .utf8)
    #expect(text.contains(#""refersTo" : "Performer""#), "\(text)")
    try history(FilmApp.Settled.self).check()
  }

  @Test("L1 stores of releases with and without references open on every engine")
  func stores() async throws {
    try history(FilmApp.Plain.self).record(as: "1.0.0")
    try history(FilmApp.Settled.self).record(as: "2.0.0")
    var calls = 0
    for schema in [FilmApp.Settled.self, FilmApp.Ended.self] as [any StoreSchema.Type] {
      try await EvolutionTester(schema, in: folder).run(on: [.memory, .sqlite, .lmdb, .json]) { repository in
        calls += 1
        let studios = try repository.fetch(Studio.self).map(\.id)
        let films = try Array(repository.fetch(PlainFilm.self))
        #expect(films.count > 20)
        #expect(films.allSatisfy { studios.contains($0.studio) })
        #expect(Set(films.map(\.studio)).count > 5)
        #expect(films.contains { $0.director != nil })
      }
    }
    #expect(calls == 16)
  }

  @Test("L1 references of a release keep their records under new names")
  func renamed() async throws {
    try history(FilmApp.Related.self).record(as: "1.0.0")
    try await EvolutionTester(FilmApp.Renamed.self, in: folder).run(on: [.memory, .sqlite, .lmdb, .json]) {
      repository in
      let movies = try repository.filter(FilmVersion.Movie.self).including(\.house).result()
      #expect(movies.count > 20)
    }
  }
}
