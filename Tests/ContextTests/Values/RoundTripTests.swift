import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("V1 V2: what is fetched is what was saved")
struct RoundTripTests {
  @Test(
    "V1 V2 every kind of field, optional or not, keeps its extremes and traps to the bit",
    arguments: ContextUnderTest.all, SampledKind.all)
  func samples(context: ContextUnderTest, kind: SampledKind) throws {
    func check<Value: Sampled & OracleValue & ExactText>(_ type: Value.Type) throws {
      let repository = try context.makeStore().open()
      let samples = Sample<Value>.all(seed: 1)
      try repository.save(contentsOf: samples)
      let fetched = try repository.fetch(Sample<Value>.self)
      #expect(fetched.count == samples.count)
      for (found, saved) in zip(fetched, samples) {
        let stored = Sample(
          id: saved.id, value: saved.value.asStored, other: saved.other.asStored,
          maybe: saved.maybe?.asStored, perhaps: saved.perhaps?.asStored)
        #expect(found.exactText == stored.exactText)
      }
    }
    try check(kind.type)
  }

  @Test(
    "V1 V2 random records with every kind of field are found as they were saved, also after reopening",
    arguments: ContextUnderTest.all)
  func allKinds(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    var random = SeededGenerator(seed: 2)
    let records = [AllKinds(id: UUID())] + (0..<60).map { _ in AllKinds.random(using: &random) }
    try repository.save(contentsOf: records)
    if try repository.storage.capabilities.isDurable {
      try repository.close()
      repository = try store.open()
    }
    for record in records {
      let found = try #require(try repository.find(AllKinds.self, id: record.id))
      #expect(found.exactText == record.exactText)
    }
    let all = try repository.fetch(AllKinds.self)
    let expected = records.sorted { UUID.oracle($0.id, $1.id) < 0 }
    #expect(all.map(\.exactText) == expected.map(\.exactText))
  }

  @Test("V2 empty and nil are different things", arguments: ContextUnderTest.all)
  func emptyIsNotNil(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var empty = AllKinds(id: UUID())
    empty.optional.string = ""
    empty.optional.bytes = []
    empty.optional.data = Data()
    empty.optional.list = []
    empty.optional.grade = Grade.none
    let none = AllKinds(id: UUID())
    try repository.save(contentsOf: [empty, none])
    let found = try #require(try repository.find(AllKinds.self, id: empty.id))
    #expect(found.exactText == empty.exactText)
    #expect(try #require(try repository.find(AllKinds.self, id: none.id)).exactText == none.exactText)
    for condition: PersistentPredicate<AllKinds> in [
      \.optional.string == "", \.optional.data == Data(), \.optional.bytes == [], \.optional.list == [],
      \.optional.grade == Grade.none,
    ] {
      #expect(
        try repository.filter(AllKinds.self, where: condition).result().map(\.id) == [empty.id],
        "\(condition)")
      #expect(
        try repository.filter(AllKinds.self, where: !condition).result().map(\.id) == [none.id],
        "\(condition)")
    }
  }

  @Test("V2 doubles of any bits come back with the same bits", arguments: ContextUnderTest.all)
  func doubles(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var random = SeededGenerator(seed: 3)
    let records = (0..<400).map { id in
      let (one, other) = (
        Double(bitPattern: random.next()), Double(bitPattern: random.next() & 0x800F_FFFF_FFFF_FFFF)
      )
      return Sample(id: id, value: one, other: other, maybe: Optional(one.nextUp), perhaps: nil)
    }
    try repository.save(contentsOf: records)
    #expect(try repository.fetch(Sample<Double>.self).map(\.exactText) == records.map(\.exactText))
  }

  @Test(
    "V2 dates come back to the bit",
    arguments: ContextUnderTest.all(
      with: { $0.datePrecision == .exact }, named: "datePrecision exact", rule: "V2 dates to the bit"))
  func dates(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var random = SeededGenerator(seed: 4)
    let records = (0..<400).map { id in
      let date = Date(timeIntervalSinceReferenceDate: Double.random(in: -1e11...1e11, using: &random))
      let near = Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.nextUp)
      return Sample(
        id: id, value: date, other: near, maybe: Optional(Date(timeIntervalSince1970: Double(id) / 7)),
        perhaps: nil)
    }
    try repository.save(contentsOf: records)
    #expect(try repository.fetch(Sample<Date>.self).map(\.exactText) == records.map(\.exactText))
  }

  @Test(
    "V2 a blob of 64 MiB keeps every byte",
    arguments: ContextUnderTest.all(
      with: { $0.largestValue.map { $0 >= 64 << 20 } ?? true }, named: "largestValue ≥ 64 MiB",
      rule: "V2 blobs"))
  func largeBlob(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var random = SeededGenerator(seed: 5)
    var words = [UInt64](repeating: 0, count: 8 << 20)
    for index in words.indices { words[index] = random.next() }
    let bytes = words.withUnsafeBytes { Data($0) }
    try repository.save(contentsOf: [Blob(1, bytes), Blob(2, Data())])
    #expect(try repository.find(Blob.self, id: 1)?.bytes == bytes)
    #expect(try repository.find(Blob.self, id: 2)?.bytes == Data())
    #expect(try repository.fetch(Blob.self).map(\.bytes.count) == [64 << 20, 0])
  }
}
