import DataAccess
import PersistenceCore

/// Insert, update, save, delete and find.
enum WritingChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("insert adds an object, and throws duplicateKey if it exists", insert),
    DataSourceCheck("update replaces an object, and throws notFound if it does not exist", update),
    DataSourceCheck("save inserts or replaces an object", save),
    DataSourceCheck("delete returns the stored object, and nil if it does not exist", delete),
    DataSourceCheck("a unique index rejects a second equal value, and nil never collides", unique),
    DataSourceCheck("an empty data source returns empty results without an error", empty),
  ]

  @Sendable private static func insert(_ source: AnyDataSource<Parcel>) async throws {
    let inserted = try await source.insert(Parcel(1, name: "a", weight: 1.5, priority: 3))
    try expect(inserted, equals: Parcel(1, name: "a", weight: 1.5, priority: 3))
    try await expectError(.duplicateKey) { try await source.insert(Parcel(1, name: "b")) }
    try expect(try await source.find(1)?.name, equals: "a")
    try expect(try await source.filter().count(), equals: 1)
  }

  @Sendable private static func update(_ source: AnyDataSource<Parcel>) async throws {
    try await expectError(.notFound) { try await source.update(Parcel(1)) }
    try expect(try await source.find(1), equals: nil)
    try await source.insert(Parcel(1, name: "a", priority: 1))
    let updated = try await source.update(Parcel(1, name: "b", isSent: true))
    try expect(updated, equals: Parcel(1, name: "b", isSent: true))
    try expect(try await source.find(1), equals: Parcel(1, name: "b", isSent: true))
  }

  @Sendable private static func save(_ source: AnyDataSource<Parcel>) async throws {
    try expect(try await source.save(Parcel(2, name: "a")), equals: Parcel(2, name: "a"))
    try expect(try await source.save(Parcel(2, name: "b")), equals: Parcel(2, name: "b"))
    try expect(try await source.filter().result(), equals: [Parcel(2, name: "b")])
    try expect(try await source.filter(where: \.name == "a").count(), equals: 0)
  }

  @Sendable private static func delete(_ source: AnyDataSource<Parcel>) async throws {
    try expect(try await source.delete(Parcel(1)), equals: nil)
    try await source.insert(Parcel(1, name: "stored"))
    try await source.insert(Parcel(2, name: "other"))
    try expect(try await source.delete(Parcel(1, name: "given")), equals: Parcel(1, name: "stored"))
    try expect(try await source.delete(Parcel(1)), equals: nil)
    try expect(try await source.filter().result().map(\.id), equals: [2])
  }

  @Sendable private static func unique(_ source: AnyDataSource<Named>) async throws {
    try await source.insert(Named("a", nickname: "x"))
    try await source.insert(Named("b"))
    try await source.insert(Named("c"))
    try await expectError(.uniqueViolation) { try await source.insert(Named("d", nickname: "x")) }
    try await expectError(.uniqueViolation) { try await source.save(Named("b", nickname: "x")) }
    try await expectError(.uniqueViolation) { try await source.update(Named("c", nickname: "x")) }
    try expect(
      try await source.filter().result(), equals: [Named("a", nickname: "x"), Named("b"), Named("c")])
  }

  @Sendable private static func empty(_ source: AnyDataSource<Parcel>) async throws {
    try expect(try await source.find(1), equals: nil)
    try expect(
      try await source.filter(where: \.name == "a").sorted(by: \.weight).limit(3).result(), equals: [])
    try expect(try await source.filter().count(), equals: 0)
    try expect(try await source.filter().first(), equals: nil)
    try await source.apply(ChangeBatch([]))
  }
}
