import DataAccess
import Foundation
import PersistenceCore

/// Batches of changes.
enum BatchChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("a batch applies all its changes in order", order),
    DataSourceCheck(
      "a batch with an invalid change changes nothing, and throws the error of that change", whole),
    DataSourceCheck("a batch that is sent again has no effect, even after other writes", repeated),
    DataSourceCheck("a rejected batch can succeed later under the same id", refused),
    DataSourceCheck("a batch sent several times concurrently is applied once", together),
    DataSourceCheck("a batch can have a thousand changes", large),
  ]

  @Sendable private static func order(_ source: AnyDataSource<Parcel>) async throws {
    try await source.insert(Parcel(9, name: "old"))
    try await source.apply(
      ChangeBatch([
        .insert(Parcel(1, name: "a")), .update(Parcel(1, name: "b"), replacing: Parcel(1, name: "a")),
        .save(Parcel(2, name: "c")), .save(Parcel(1, name: "d")), .delete(Parcel(2)), .delete(Parcel(7)),
        .update(Parcel(9, name: "new"), replacing: nil), .insert(Parcel(2, name: "e")),
      ]))
    try expect(
      try await source.filter().result(),
      equals: [Parcel(1, name: "d"), Parcel(2, name: "e"), Parcel(9, name: "new")])
  }

  @Sendable private static func whole(_ source: AnyDataSource<Parcel>) async throws {
    let before = [Parcel(1, name: "a"), Parcel(2, name: "b")]
    for parcel in before { try await source.insert(parcel) }
    let good: [ObjectChange<Parcel>] = [
      .delete(Parcel(1)), .save(Parcel(3)), .update(Parcel(2), replacing: nil),
    ]
    try await expectError(.duplicateKey) {
      try await source.apply(ChangeBatch(good + [.insert(Parcel(2))]))
    }
    try await expectError(.notFound) {
      try await source.apply(ChangeBatch(good + [.update(Parcel(1), replacing: nil)]))
    }
    try await expectError(.conflict) {
      try await source.apply(ChangeBatch(good + [.update(Parcel(2, name: "x"), replacing: before[1])]))
    }
    try expect(try await source.filter().result(), equals: before)
  }

  @Sendable private static func repeated(_ source: AnyDataSource<Parcel>) async throws {
    let batch = ChangeBatch<Parcel>([.insert(Parcel(1, name: "a")), .save(Parcel(2, name: "b"))])
    try expect(try await source.apply(batch), equals: true)
    try expect(try await source.apply(batch), equals: false)
    try await source.delete(Parcel(1))
    try await source.save(Parcel(2, name: "later"))
    try expect(try await source.apply(batch), equals: false)
    try expect(try await source.filter().result(), equals: [Parcel(2, name: "later")])
    try await source.apply(ChangeBatch(batch.changes, id: UUID()))
    try expect(try await source.filter().count(), equals: 2)
  }

  @Sendable private static func refused(_ source: AnyDataSource<Parcel>) async throws {
    try await source.insert(Parcel(1))
    let batch = ChangeBatch<Parcel>([.insert(Parcel(1, name: "again"))])
    try await expectError(.duplicateKey) { try await source.apply(batch) }
    try await source.delete(Parcel(1))
    try await source.apply(batch)
    try expect(try await source.find(1)?.name, equals: "again")
  }

  @Sendable private static func together(_ source: AnyDataSource<Parcel>) async throws {
    let batch = ChangeBatch<Parcel>((0..<5).map { .insert(Parcel($0)) })
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 { group.addTask { try await source.apply(batch) } }
      try await group.waitForAll()
    }
    try expect(try await source.filter().count(), equals: 5)
  }

  @Sendable private static func large(_ source: AnyDataSource<Parcel>) async throws {
    try await source.apply(ChangeBatch((0..<1000).map { .insert(Parcel($0, name: "n\($0 % 7)")) }))
    try expect(try await source.filter(where: \.name == "n3").count(), equals: 143)
  }
}
