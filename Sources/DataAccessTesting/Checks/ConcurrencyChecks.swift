import DataAccess
import PersistenceCore

/// Many tasks at once.
enum ConcurrencyChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck(
      "of many tasks that insert at once, none is lost, and one key is given to one of them", inserts),
    DataSourceCheck(
      "of many tasks that change one object by conditional updates, no change is lost", changes),
    DataSourceCheck("reads beside a writer of whole batches see whole batches", reads),
  ]

  @Sendable private static func inserts(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      let won = try await withThrowingTaskGroup(of: Int.self) { group in
        for task in 0..<8 {
          group.addTask {
            var won = 0
            for number in 0..<10 {
              try await store.insert(Parcel(100 + task * 10 + number, name: "t\(task)"))
              do {
                try await store.insert(Parcel(number, name: "t\(task)"))
                won += 1
              } catch  where bench.code(of: error) == .duplicateKey {
                continue
              }
            }
            return won
          }
        }
        return try await group.reduce(0, +)
      }
      try expect(won, equals: 10)
      try expect(try await store.filter().count(), equals: 90)
    }
  }

  @Sendable private static func changes(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.insert(Parcel(1, priority: 0))
      try await withThrowingTaskGroup { group in
        for _ in 0..<6 {
          group.addTask {
            var done = 0
            while done < 5 {
              guard let stored = try await store.find(1) else { return }
              var changed = stored
              changed.priority = (stored.priority ?? 0) + 1
              do {
                try await store.update(changed, replacing: stored)
                done += 1
              } catch  where bench.code(of: error) == .conflict {
                continue
              }
            }
          }
        }
        try await group.waitForAll()
      }
      try expect(try await store.find(1)?.priority, equals: 30)
    }
  }

  @Sendable private static func reads(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.apply(ChangeBatch((0..<10).map { .insert(Parcel($0, priority: 0)) }))
      try await withThrowingTaskGroup { group in
        group.addTask {
          for round in 1...10 {
            try await store.apply(ChangeBatch((0..<10).map { .save(Parcel($0, priority: round)) }))
          }
        }
        for _ in 0..<3 {
          group.addTask {
            for _ in 0..<10 {
              let priorities = Set(try await store.filter().result().map(\.priority))
              try expect(priorities.count, equals: 1, "the rounds that one answer shows: \(priorities)")
            }
          }
        }
        try await group.waitForAll()
      }
      try expect(try await store.filter(where: \.priority == 10).count(), equals: 10)
    }
  }
}
