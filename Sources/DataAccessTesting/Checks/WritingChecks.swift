import DataAccess
import PersistenceCore

/// Insert, update, save, delete, find.
enum WritingChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("an insert adds an object once, and throws duplicateKey the second time", insert),
    DataSourceCheck("an update replaces an object, and throws notFound where there is none", update),
    DataSourceCheck("a save adds or replaces", save),
    DataSourceCheck("a delete gives back what was stored, and nil where nothing was", delete),
    DataSourceCheck("a unique index refuses the second value, and nil never collides", unique),
    DataSourceCheck("an empty store answers with nothing, not with an error", empty),
  ]

  @Sendable private static func insert(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      let inserted = try await store.insert(Parcel(1, name: "a", weight: 1.5, priority: 3))
      try expect(inserted, equals: Parcel(1, name: "a", weight: 1.5, priority: 3))
      try await bench.expectError(.duplicateKey) { try await store.insert(Parcel(1, name: "b")) }
      try expect(try await store.find(1)?.name, equals: "a")
      try expect(try await store.filter().count(), equals: 1)
    }
  }

  @Sendable private static func update(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await bench.expectError(.notFound) { try await store.update(Parcel(1)) }
      try expect(try await store.find(1), equals: nil)
      try await store.insert(Parcel(1, name: "a", priority: 1))
      let updated = try await store.update(Parcel(1, name: "b", isSent: true))
      try expect(updated, equals: Parcel(1, name: "b", isSent: true))
      try expect(try await store.find(1), equals: Parcel(1, name: "b", isSent: true))
    }
  }

  @Sendable private static func save(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try expect(try await store.save(Parcel(2, name: "a")), equals: Parcel(2, name: "a"))
      try expect(try await store.save(Parcel(2, name: "b")), equals: Parcel(2, name: "b"))
      try expect(try await store.filter().result(), equals: [Parcel(2, name: "b")])
      try expect(try await store.filter(where: \.name == "a").count(), equals: 0)
    }
  }

  @Sendable private static func delete(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try expect(try await store.delete(Parcel(1)), equals: nil)
      try await store.insert(Parcel(1, name: "stored"))
      try await store.insert(Parcel(2, name: "other"))
      try expect(try await store.delete(Parcel(1, name: "given")), equals: Parcel(1, name: "stored"))
      try expect(try await store.delete(Parcel(1)), equals: nil)
      try expect(try await store.filter().result().map(\.id), equals: [2])
    }
  }

  @Sendable private static func unique(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Named.self) { store in
      try await store.insert(Named("a", nickname: "x"))
      try await store.insert(Named("b"))
      try await store.insert(Named("c"))
      try await bench.expectError(.uniqueViolation) { try await store.insert(Named("d", nickname: "x")) }
      try await bench.expectError(.uniqueViolation) { try await store.save(Named("b", nickname: "x")) }
      try await bench.expectError(.uniqueViolation) { try await store.update(Named("c", nickname: "x")) }
      try expect(
        try await store.filter().result(), equals: [Named("a", nickname: "x"), Named("b"), Named("c")])
    }
  }

  @Sendable private static func empty(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try expect(try await store.find(1), equals: nil)
      try expect(
        try await store.filter(where: \.name == "a").sorted(by: \.weight).limit(3).result(), equals: [])
      try expect(try await store.filter().count(), equals: 0)
      try expect(try await store.filter().first(), equals: nil)
      try await store.apply(ChangeBatch([]))
    }
  }
}
