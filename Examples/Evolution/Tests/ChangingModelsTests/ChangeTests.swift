import Foundation
import Persistence
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import Testing

@Suite("Guide: Changing your models, other changes")
final class ChangeTests {
  private static let schemes = ["sqlite", "lmdb", "json"]

  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func url(_ scheme: String, _ options: String = "") -> String {
    "\(scheme):\(folder.appendingPathComponent(scheme).path)\(options)"
  }

  private func open(_ url: String, _ schema: (any StoreSchema.Type)? = nil) throws -> Repository {
    guard let schema else { return try Repository(opening: url, engines: [.sqlite, .lmdb, .json]) }
    return try Repository(opening: url, engines: [.sqlite, .lmdb, .json], schema: schema)
  }

  /// Makes a store of before.
  private func fill(_ scheme: String) throws {
    let repository = try open(url(scheme), Before.self)
    try repository.save(contentsOf: [
      Before.Screening(id: 1, cinema: "Rex", seats: 80_000, price: 7.5, subtitle: nil),
      Before.Screening(id: 2, cinema: "Lux", seats: 90, price: 9.25, subtitle: "Chaos"),
    ])
    try repository.save(Before.Draft(id: 1, text: "later"))
    try repository.close()
  }

  @Test("wider kinds, optionality, indexes, fills and removals", arguments: schemes)
  func changes(scheme: String) throws {
    try fill(scheme)
    let repository = try open(url(scheme), After.self)
    let screenings = Array(try repository.filter(After.Screening.self, where: \.price > 1).result())
    #expect(screenings.map(\.seats) == [80_000, 90])
    #expect(screenings.map(\.price) == [7.5, 9.25])
    #expect(screenings.allSatisfy { $0.code == nil && $0.added == .distantPast })
    try repository.save(After.Screening(id: 3, cinema: "Rex", seats: 5_000_000_000, price: nil, code: "R3"))
    let error = #expect(throws: PersistenceError.self) {
      try repository.save(After.Screening(id: 4, cinema: "Rex", seats: 1, price: nil, code: "R3"))
    }
    #expect(error?.code == .uniqueViolation)
    try repository.close()
    let older = #expect(throws: PersistenceError.self) { try open(url(scheme), Before.self) }
    #expect(older?.code == .newerStore, "\(older.map { "\($0)" } ?? "")")
  }

  @Test("the guide quotes the differences, and their advice works", arguments: schemes)
  func advice(scheme: String) throws {
    try fill(scheme)
    let error = #expect(throws: PersistenceError.self) { try open(url(scheme), Unsaid.self) }
    #expect(error?.code == .schemaMismatch)
    let differences = (error?.differences ?? []).map(\.description).joined(separator: "\n")
    #expect(try Guide().blocks("text").contains(differences), "the guide does not quote:\n\(differences)")
    let repository = try open(url(scheme), Said.self)
    let screenings = Array(try repository.filter(Said.Screening.self).result())
    #expect(screenings.map(\.seats) == [32_767, 90])
    #expect(screenings.map(\.subtitle) == ["", "Chaos"])
    #expect(screenings.map(\.hall) == ["1", "1"])
    try repository.close()
  }

  @Test("a read-only store reads as if it were changed, and is not", arguments: schemes)
  func readOnly(scheme: String) throws {
    try fill(scheme)
    let repository = try open(url(scheme, "?readonly=true"), After.self)
    #expect(
      try repository.filter(After.Screening.self).result().map(\.added) == [.distantPast, .distantPast])
    #expect(try repository.filter(After.Screening.self, where: \.seats > 100).count() == 1)
    try repository.close()
    let before = try open(url(scheme), Before.self)
    #expect(try before.count(Before.Draft.self) == 1)
    try before.close()
  }

  @Test("without a schema, reads change nothing, and the first write adds a field", arguments: schemes)
  func withoutSchema(scheme: String) throws {
    try fill(scheme)
    let repository = try open(url(scheme))
    #expect(try repository.filter(NotedScreening.self, where: \.note == nil).count() == 2)
    try repository.write(NotedScreening.self, id: 1) { $0.note = "sold out" }
    #expect(try repository.find(NotedScreening.self, id: 1)?.note == "sold out")
    #expect(try repository.find(Before.Screening.self, id: 1)?.seats == 80_000)
    let error = #expect(throws: PersistenceError.self) { try repository.count(Said.Screening.self) }
    #expect(error?.code == .schemaMismatch)
    try repository.close()
  }

  @Test("a removed model is restored with its records, and erased only on request", arguments: schemes)
  func removed(scheme: String) throws {
    try fill(scheme)
    var repository = try open(url(scheme), After.self)
    #expect(try repository.removedModels().map(\.name) == ["Draft"])
    try repository.restore(model: "Draft")
    #expect(try repository.find(Before.Draft.self, id: 1)?.text == "later")
    try repository.close()
    repository = try open(url(scheme), After.self)
    try repository.compact(erasing: repository.removedModels())
    #expect(try repository.removedModels().isEmpty)
    #expect(try repository.count(After.Screening.self) == 2)
    try repository.close()
  }

  @Test("the history of schemas accepts the next version, and refuses one that says too little")
  func history() throws {
    let folder = folder.appendingPathComponent("Schemas").path
    try SchemaHistory(of: Before.self, in: folder).record(as: "1.0.0")
    try SchemaHistory(of: After.self, in: folder).record(as: nil)
    try SchemaHistory(of: After.self, in: folder).check()
    let error = #expect(throws: PersistenceError.self) {
      try SchemaHistory(of: Unsaid.self, in: folder).check()
    }
    #expect(error?.code == .schemaMismatch)
  }

  @Test("an enumeration with a case for unknown values reads those of a newer version", arguments: schemes)
  func unknownCase(scheme: String) throws {
    let repository = try open(url(scheme))
    try repository.save(LaterGenreScreening(id: 1, genre: "western"))
    #expect(try repository.find(GenreScreening.self, id: 1)?.genre == .other("western"))
    try repository.save(GenreScreening(id: 2, genre: .comedy))
    #expect(try repository.find(LaterGenreScreening.self, id: 2)?.genre == "comedy")
    try repository.close()
  }
}
