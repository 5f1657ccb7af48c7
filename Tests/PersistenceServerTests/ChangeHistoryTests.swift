import DataAccess
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceRemote
import PersistenceServer
import Testing

/// A client that keeps a copy of all films by pulling changes.
private struct FilmCopy {
  var films: [Int: Film] = [:]
  var checkpoint: DataSourceCheckpoint?
  var resets = 0

  /// Applies one part of the changes, or fetches everything; returns whether more changes follow.
  mutating func pull(_ source: RemoteDataSource<Film>, limit: Int) async throws -> Bool {
    guard let since = checkpoint else {
      let start = try await source.changes(since: nil).checkpoint
      films = Dictionary(uniqueKeysWithValues: try await source.execute(FetchOptions()).map { ($0.id, $0) })
      checkpoint = start
      return true
    }
    do {
      let changes = try await source.changes(since: since, limit: limit)
      for key in changes.deleted { films[try key.value(as: Int.self)] = nil }
      for film in changes.saved { films[film.id] = film }
      checkpoint = changes.checkpoint
      return changes.hasMore
    } catch let error as PersistenceError where error.code == .checkpointExpired {
      (checkpoint, resets) = (nil, resets + 1)
      return true
    }
  }
}

@Suite("Histories of changes")
struct ChangeHistoryTests {
  private static var seeds: Range<UInt64> {
    0..<(ProcessInfo.processInfo.environment["PERSISTENCE_SOAK"] == "1" ? 60 : 3)
  }

  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }

  private static func write(_ repository: any PersistentRepository, _ dice: inout Dice, _ step: Int) throws {
    let id = Int.random(in: 0..<12, using: &dice)
    switch Int.random(in: 0..<10, using: &dice) {
    case 0..<5: try repository.save(Film(id, "\(step)"))
    case 5..<8: try repository.delete(Film(id))
    case 8:
      try repository.transaction { inside in
        for other in [id, id + 1] { try inside.save(Film(other, "\(step)")) }
        try inside.delete(Film(id + 2))
      }
    default: _ = try repository.filter(Film.self, where: \.id < id / 4).delete()
    }
  }

  @Test(
    "D1: copies of clients equal the store after each complete pull, also across restarts of the server",
    arguments: ContextUnderTest.ours)
  func copies(context: ContextUnderTest) async throws {
    for seed in Self.seeds {
      var dice = Dice(state: seed)
      let repository = try context.makeStore().open()
      let storage = try #require(repository.context.asStorageContext)
      try repository.insert(contentsOf: [Film(0)])
      var limits = ServerLimits()
      limits.rememberedChanges = 6
      var copies = [FilmCopy(), FilmCopy(), FilmCopy()]
      for _ in 0..<2 {
        try await RunningServer.with(storage, limits: limits) { server in
          let source = try RemoteServer(server.url, token: RunningServer.readToken).dataSource(of: Film.self)
          for step in 0..<25 {
            for _ in 0..<Int.random(in: 0..<3, using: &dice) { try Self.write(repository, &dice, step) }
            let number = Int.random(in: 0..<copies.count, using: &dice)
            // Some pulls stop in the middle.
            let parts = Int.random(in: 1..<5, using: &dice)
            let limit = Int.random(in: 1..<6, using: &dice)
            for _ in 0..<parts {
              if try await copies[number].pull(source, limit: limit) { continue }
              let stored = Array(try repository.filter(Film.self).result())
              let copy = copies[number].films.values.sorted { $0.id < $1.id }
              try #require(copy == stored, "seed \(seed), step \(step), copy \(number)")
              break
            }
          }
        }
      }
      #expect(copies.contains { $0.resets > 0 }, "seed \(seed)")
    }
  }

  @Test(
    "D1: no change is lost between a snapshot and its checkpoint while others write",
    arguments: ContextUnderTest.ours)
  func concurrent(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.insert(contentsOf: [Film(0)])
    try await RunningServer.with(storage) { server in
      let source = try RemoteServer(server.url, token: RunningServer.readToken).dataSource(of: Film.self)
      let writing = repository.dataSource(of: Film.self)
      var copies = [FilmCopy(), FilmCopy()]
      let writers = (0..<2).map { number in
        Task {
          for step in 0..<40 {
            let id = (step * 7 + number * 5) % 12
            if step % 3 == 2 {
              try await writing.delete(Film(id))
            } else {
              try await writing.save(Film(id, "\(number) \(step)"))
            }
          }
        }
      }
      for step in 0..<30 { _ = try await copies[step % 2].pull(source, limit: 3) }
      for writer in writers { try await writer.value }
      let stored = Array(try repository.filter(Film.self).result())
      for number in copies.indices {
        while try await copies[number].pull(source, limit: 5) {}
        #expect(copies[number].films.values.sorted { $0.id < $1.id } == stored, "copy \(number)")
      }
    }
  }
}
