import DataAccess
import Foundation
import PersistenceCore

/// Several changes at once.
enum BatchChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("a batch makes all its changes, in their order", order),
    DataSourceCheck(
      "a batch with a change that cannot be made changes nothing, and throws what that would", whole),
    DataSourceCheck("a batch that is sent again is not made again, whatever was written between", repeated),
    DataSourceCheck("a batch that was refused can be made later under the same id", refused),
    DataSourceCheck("a batch sent several times at once is made once", together),
    DataSourceCheck("a batch of a thousand changes", large),
  ]

  @Sendable private static func order(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.insert(Parcel(9, name: "old"))
      try await store.apply(
        ChangeBatch([
          .insert(Parcel(1, name: "a")), .update(Parcel(1, name: "b"), replacing: Parcel(1, name: "a")),
          .save(Parcel(2, name: "c")), .save(Parcel(1, name: "d")), .delete(Parcel(2)), .delete(Parcel(7)),
          .update(Parcel(9, name: "new"), replacing: nil), .insert(Parcel(2, name: "e")),
        ]))
      try expect(
        try await store.filter().result(),
        equals: [Parcel(1, name: "d"), Parcel(2, name: "e"), Parcel(9, name: "new")])
    }
  }

  @Sendable private static func whole(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      let before = [Parcel(1, name: "a"), Parcel(2, name: "b")]
      for parcel in before { try await store.insert(parcel) }
      let good: [ObjectChange<Parcel>] = [
        .delete(Parcel(1)), .save(Parcel(3)), .update(Parcel(2), replacing: nil),
      ]
      try await bench.expectError(.duplicateKey) {
        try await store.apply(ChangeBatch(good + [.insert(Parcel(2))]))
      }
      try await bench.expectError(.notFound) {
        try await store.apply(ChangeBatch(good + [.update(Parcel(1), replacing: nil)]))
      }
      try await bench.expectError(.conflict) {
        try await store.apply(ChangeBatch(good + [.update(Parcel(2, name: "x"), replacing: before[1])]))
      }
      try expect(try await store.filter().result(), equals: before)
    }
  }

  @Sendable private static func repeated(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      let batch = ChangeBatch<Parcel>([.insert(Parcel(1, name: "a")), .save(Parcel(2, name: "b"))])
      try expect(try await store.apply(batch), equals: true)
      try expect(try await store.apply(batch), equals: false)
      try await store.delete(Parcel(1))
      try await store.save(Parcel(2, name: "later"))
      try expect(try await store.apply(batch), equals: false)
      try expect(try await store.filter().result(), equals: [Parcel(2, name: "later")])
      try await store.apply(ChangeBatch(batch.changes, id: UUID()))
      try expect(try await store.filter().count(), equals: 2)
    }
  }

  @Sendable private static func refused(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.insert(Parcel(1))
      let batch = ChangeBatch<Parcel>([.insert(Parcel(1, name: "again"))])
      try await bench.expectError(.duplicateKey) { try await store.apply(batch) }
      try await store.delete(Parcel(1))
      try await store.apply(batch)
      try expect(try await store.find(1)?.name, equals: "again")
    }
  }

  @Sendable private static func together(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      let batch = ChangeBatch<Parcel>((0..<5).map { .insert(Parcel($0)) })
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 { group.addTask { try await store.apply(batch) } }
        try await group.waitForAll()
      }
      try expect(try await store.filter().count(), equals: 5)
    }
  }

  @Sendable private static func large(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.apply(ChangeBatch((0..<1000).map { .insert(Parcel($0, name: "n\($0 % 7)")) }))
      try expect(try await store.filter(where: \.name == "n3").count(), equals: 143)
    }
  }
}
