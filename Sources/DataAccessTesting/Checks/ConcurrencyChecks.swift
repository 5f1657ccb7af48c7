import DataAccess
import PersistenceCore

/// Concurrent tasks.
enum ConcurrencyChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("concurrent inserts lose nothing, and only one of them gets a contested key", inserts),
    DataSourceCheck("concurrent conditional updates of one object lose no change", changes),
    DataSourceCheck("reads concurrent with batches never see a part of a batch", reads),
  ]

  @Sendable private static func inserts(_ source: AnyDataSource<Parcel>) async throws {
    let won = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var won = 0
          for number in 0..<10 {
            try await source.insert(Parcel(100 + task * 10 + number, name: "t\(task)"))
            do {
              try await source.insert(Parcel(number, name: "t\(task)"))
              won += 1
            } catch  where (error as? PersistenceError)?.code == .duplicateKey {
              continue
            }
          }
          return won
        }
      }
      return try await group.reduce(0, +)
    }
    try expect(won, equals: 10)
    try expect(try await source.filter().count(), equals: 90)
  }

  @Sendable private static func changes(_ source: AnyDataSource<Parcel>) async throws {
    try await source.insert(Parcel(1, priority: 0))
    try await withThrowingTaskGroup { group in
      for _ in 0..<6 {
        group.addTask {
          var done = 0
          while done < 5 {
            guard let stored = try await source.find(1) else { return }
            var changed = stored
            changed.priority = (stored.priority ?? 0) + 1
            do {
              try await source.update(changed, replacing: stored)
              done += 1
            } catch  where (error as? PersistenceError)?.code == .conflict {
              continue
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try expect(try await source.find(1)?.priority, equals: 30)
  }

  @Sendable private static func reads(_ source: AnyDataSource<Parcel>) async throws {
    try await source.apply(ChangeBatch((0..<10).map { .insert(Parcel($0, priority: 0)) }))
    try await withThrowingTaskGroup { group in
      group.addTask {
        for round in 1...10 {
          try await source.apply(ChangeBatch((0..<10).map { .save(Parcel($0, priority: round)) }))
        }
      }
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<10 {
            let priorities = Set(try await source.filter().result().map(\.priority))
            try expect(priorities.count, equals: 1, "the rounds in one answer: \(priorities)")
          }
        }
      }
      try await group.waitForAll()
    }
    try expect(try await source.filter(where: \.priority == 10).count(), equals: 10)
  }
}
