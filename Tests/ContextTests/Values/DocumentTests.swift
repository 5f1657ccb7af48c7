import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("V1 V4a: documents")
struct DocumentTests {
  private static let addresses = [
    Address(street: "", number: 0),
    Address(
      street: "a\0é\u{10FFFF}\"\\/\u{8}", number: .min,
      position: [0.1, -0.0, -.leastNormalMagnitude, .infinity]),
    Address(street: "é", number: 1, notes: ["\u{E9}": "1", "z": nil, "": ""]),
    Address(street: "e\u{301}", number: 1, notes: ["\u{E9}": "1", "z": nil, "": ""]),
    Address(street: "x", number: .max, position: [.greatestFiniteMagnitude, .leastNonzeroMagnitude]),
  ]

  private func filled(_ context: ContextUnderTest) throws -> (Repository, [AllKinds]) {
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

  @Test("V1 V2 nested values come back as they were", arguments: ContextUnderTest.all)
  func roundTrip(context: ContextUnderTest) throws {
    let (repository, records) = try filled(context)
    #expect(try repository.fetch(AllKinds.self).map(\.exactText) == records.map(\.exactText))
  }

  @Test(
    "V4a documents are equal or not, whatever the order of their members", arguments: ContextUnderTest.all)
  func equality(context: ContextUnderTest) throws {
    let (repository, records) = try filled(context)
    for (record, address) in zip(records, Self.addresses) {
      let same: PersistentPredicate<AllKinds> = \.address == address
      #expect(try repository.filter(AllKinds.self, where: same).result().map(\.id) == [record.id])
      #expect(try repository.filter(AllKinds.self, where: \.address != address).count() == records.count - 1)
      #expect(try repository.filter(AllKinds.self, where: !same).count() == records.count - 1)
    }
    let none: Address? = nil
    #expect(
      try repository.filter(AllKinds.self, where: \.optional.address == none).result().map(\.id) == [
        records[1].id
      ])
    #expect(
      try repository.filter(AllKinds.self, where: \.optional.address != none).count() == records.count - 1)
    #expect(try repository.filter(AllKinds.self, where: \.optional.address == Self.addresses[2]).count() == 1)
    #expect(try repository.filter(AllKinds.self, where: \.list == ["a", "b"]).count() == 1)
    #expect(try repository.filter(AllKinds.self, where: \.list == ["b", "a"]).count() == 0)
  }

  @Test(
    "V4a a document has no order: sorting by one, or comparing it so, is refused",
    arguments: ContextUnderTest.all)
  func noOrder(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let storage = try repository.storage
    let schema = try AllKinds.schema.model
    expectError(.invalidRequest) { try storage.fetch(FetchRequest(schema, order: [FieldOrder("list")])) }
    expectError(.invalidRequest) {
      try storage.fetch(FetchRequest(schema, where: .comparison(field: "list", .less, .document("[]"))))
    }
  }
}
