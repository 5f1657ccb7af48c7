import Foundation
import PersistenceCore

/// L3 and L8: observers of what follows a delete, and of related records.
enum RelatedObservationChecks {
  static let all: [ConformanceCheck] = [
    observing("observers get the keys of records that follow a delete", [.l3, .u1], followers),
    observing("an observer of an inclusion learns of commits to each of its models", [.l8], included),
    observing(
      "an observer of a condition or an order through relations learns of each commit that can change it",
      [.l8], asked),
  ]

  private static func observing(
    _ title: String, _ rules: [ContractRule], _ body: @escaping @Sendable (Repository) async throws -> Void
  ) -> ConformanceCheck {
    ConformanceCheck(asynchronous: title, rules, needs: [.writable, .reportingCommits]) { context in
      let repository = try context.makeStore().open(.patient)
      try await Watchdog.limit { try await body(repository) }
    }
  }

  /// Expects the next update to have films with these ids.
  private static func expectIDs(
    _ ids: [Int], _ updates: inout RecordUpdates<Film>.AsyncIterator, file: StaticString = #fileID,
    line: UInt = #line
  ) async throws {
    let update = try await updates.required(file: file, line: line)
    try expect(update.results.map(\.id), equals: ids, file: file, line: line)
  }

  @Sendable private static func followers(_ repository: Repository) async throws {
    try IntegrityChecks.fill(repository)
    try repository.save(contentsOf: [Studio(3, parent: 1), Studio(4, parent: 3)])
    var studios = repository.updates(of: Studio.self).makeAsyncIterator()
    var films = repository.updates(of: Film.self).makeAsyncIterator()
    _ = try await studios.required()
    _ = try await films.required()
    try repository.transaction { store in
      try store.deleteAll(Role.self)
      try store.delete(Performer.self, id: "ada")
      try store.delete(Studio.self, id: 3)
    }
    let gone = try await studios.required()
    try expect(gone.changes.keys?.deleted, equals: [RecordKey([.integer(3)]), RecordKey([.integer(4)])])
    let changed = try await films.required()
    try expect(changed.changes.keys?.updated, equals: [RecordKey([.integer(1)])])
  }

  @Sendable private static func included(_ repository: Repository) async throws {
    try IntegrityChecks.fill(repository)
    var updates = try repository.filter(Film.self).including(\.studio) { $0.including(\.parent) }.updates()
      .makeAsyncIterator()
    let first = try await updates.required()
    try expect(first.changes, equals: .first)
    try expect(first.results.map { $0.1.0.name }, equals: ["A24", "Ghibli", "A24"])
    try repository.save(Film(4, studio: 2))
    let own = try await updates.required()
    try expect(own.changes.keys?.inserted, equals: [RecordKey([.integer(4)])])
    try repository.save(Performer("nobody"))
    try repository.save(Studio(2, "new"))
    let other = try await updates.required()
    try expect(other.changes, equals: .unknown)
    try expect(other.results.map { $0.1.0.name }, equals: ["A24", "new", "A24", "new"])
  }

  @Sendable private static func asked(_ repository: Repository) async throws {
    try IntegrityChecks.fill(repository)
    var found = repository.filter(Film.self, where: .has(\.director, \.age > 50)).updates()
      .makeAsyncIterator()
    var sorted = repository.filter(Film.self).sorted(by: \.studio, \.name).updates().makeAsyncIterator()
    try await expectIDs([2], &found)
    try await expectIDs([1, 3, 2], &sorted)
    try repository.save(Performer("ada", age: 70))
    let older = try await found.required()
    try expect(older.changes, equals: .unknown)
    try expect(older.results.map(\.id), equals: [1, 2])
    try repository.save(Studio(2, ""))
    try await expectIDs([2, 1, 3], &sorted)
    let decoded = try JSONDecoder().decode(
      SortCriterion<Film>.self, from: JSONEncoder().encode(SortCriterion<Film>(\.studio, \.name)))
    var again = repository.updates(of: Film.self, sorted: [decoded]).makeAsyncIterator()
    try await expectIDs([2, 1, 3], &again)
    try repository.save(Studio(2, "Z"))
    try await expectIDs([1, 3, 2], &again)
    try await expectIDs([1, 3, 2], &sorted)
    try repository.save(Studio(2, ""))
    try await expectIDs([2, 1, 3], &sorted)
    try repository.delete(Film.self, id: 1)
    try await expectIDs([2], &found)
    try await expectIDs([2, 3], &sorted)
  }
}
