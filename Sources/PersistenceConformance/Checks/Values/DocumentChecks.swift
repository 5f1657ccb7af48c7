import Foundation
import PersistenceCore

/// V1 V4a: documents.
enum DocumentChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("nested values come back as they were", [.v1, .v2], roundTrip),
    ConformanceCheck("documents are equal or not, whatever the order of their members", [.v4a], equality),
    ConformanceCheck(
      "a document has no order: sorting by one, or comparing it so, is refused", [.v4a], noOrder),
  ]

  private static let addresses = [
    Address(street: "", number: 0),
    Address(
      street: "a\0é\u{10FFFF}\"\\/\u{8}", number: .min,
      position: [0.1, -0.0, -.leastNormalMagnitude, .infinity]),
    Address(street: "é", number: 1, notes: ["\u{E9}": "1", "z": nil, "": ""]),
    Address(street: "e\u{301}", number: 1, notes: ["\u{E9}": "1", "z": nil, "": ""]),
    Address(street: "x", number: .max, position: [.greatestFiniteMagnitude, .leastNonzeroMagnitude]),
  ]

  private static func filled(_ context: ContextUnderTest) throws -> (Repository, [AllKinds]) {
    let repository = try context.makeStore().open()
    let records = Self.addresses.enumerated().map { number, address in
      var record = AllKinds(id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))))
      record.address = address
      record.optional.address = number == 1 ? nil : address
      record.list = number == 2 ? ["a", "b"] : []
      return record
    }
    try repository.save(contentsOf: records)
    return (repository, records)
  }

  @Sendable private static func roundTrip(_ context: ContextUnderTest) throws {
    let (repository, records) = try filled(context)
    try expect(repository.fetch(AllKinds.self).map(\.exactText), equals: records.map(\.exactText))
  }

  @Sendable private static func equality(_ context: ContextUnderTest) throws {
    let (repository, records) = try filled(context)
    for (record, address) in zip(records, Self.addresses) {
      let same: PersistentPredicate<AllKinds> = \.address == address
      try expect(repository.filter(AllKinds.self, where: same).result().map(\.id), equals: [record.id])
      try expect(
        repository.filter(AllKinds.self, where: \.address != address).count(), equals: records.count - 1)
      try expect(repository.filter(AllKinds.self, where: !same).count(), equals: records.count - 1)
    }
    let none: Address? = nil
    try expect(
      repository.filter(AllKinds.self, where: \.optional.address == none).result().map(\.id),
      equals: [
        records[1].id
      ])
    try expect(
      repository.filter(AllKinds.self, where: \.optional.address != none).count(), equals: records.count - 1)
    try expect(
      repository.filter(AllKinds.self, where: \.optional.address == Self.addresses[2]).count(), equals: 1)
    try expect(repository.filter(AllKinds.self, where: \.list == ["a", "b"]).count(), equals: 1)
    try expect(repository.filter(AllKinds.self, where: \.list == ["b", "a"]).count(), equals: 0)
  }

  @Sendable private static func noOrder(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let storage = try repository.storage
    let schema = try AllKinds.schema.model
    try expectError(.invalidRequest) { try storage.fetch(FetchRequest(schema, order: [FieldOrder("list")])) }
    try expectError(.invalidRequest) {
      try storage.fetch(FetchRequest(schema, where: .comparison(field: "list", .less, .document("[]"))))
    }
  }
}
