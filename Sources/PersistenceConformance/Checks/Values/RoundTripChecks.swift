import Foundation
import PersistenceCore

/// V1 V2: values are read back unchanged.
enum RoundTripChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "every kind of field, optional or not, keeps its extreme and special values to the bit", [.v1, .v2]
    ) { context in for type in SampledTypes.all { try samples(context, type) } },
    ConformanceCheck(
      "random records with every kind of field are read back unchanged, also after reopening",
      [.v1, .v2], allKinds),
    ConformanceCheck("empty values and nil are different", [.v2], emptyIsNotNil),
    ConformanceCheck("doubles keep their exact bits", [.v2], doubles),
    ConformanceCheck("dates keep their exact bits", [.v2], dates),
    ConformanceCheck("floats keep their exact bits", [.v2], floats),
    ConformanceCheck(
      "a blob of 64 MiB keeps every byte", [.v2], needs: [.writable, .values(ofBytes: 64 << 20)], largeBlob
    ).slow,
  ]

  private static func samples<Value: SampledValue>(_ context: ContextUnderTest, _ type: Value.Type) throws {
    let samples = Sample<Value>.all(seed: 1)
    let repository = try context.makeRepository(with: samples)
    let fetched = try repository.fetch(Sample<Value>.self)
    try expect(fetched.count, equals: samples.count)
    for (found, saved) in zip(fetched, samples) {
      try expect(found.exactText, equals: saved.asStored.exactText)
    }
  }

  @Sendable private static func allKinds(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    var random = SeededGenerator(seed: 2)
    let records = [AllKinds(id: UUID())] + (0..<60).map { _ in AllKinds.random(using: &random) }
    try repository.save(contentsOf: records)
    try store.reopen(&repository)
    for record in records {
      let found = try require(repository.find(AllKinds.self, id: record.id))
      try expect(found.exactText, equals: record.exactText)
    }
    let all = try repository.fetch(AllKinds.self)
    let expected = records.sorted { UUID.oracle($0.id, $1.id) < 0 }
    try expect(all.map(\.exactText), equals: expected.map(\.exactText))
  }

  @Sendable private static func emptyIsNotNil(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var empty = AllKinds(id: UUID())
    empty.optional.string = ""
    empty.optional.bytes = []
    empty.optional.data = Data()
    empty.optional.list = []
    empty.optional.grade = Grade.none
    let none = AllKinds(id: UUID())
    try repository.save(contentsOf: [empty, none])
    let found = try require(repository.find(AllKinds.self, id: empty.id))
    try expect(found.exactText, equals: empty.exactText)
    try expect(require(repository.find(AllKinds.self, id: none.id)).exactText, equals: none.exactText)
    for condition: PersistentPredicate<AllKinds> in [
      \.optional.string == "", \.optional.data == Data(), \.optional.bytes == [], \.optional.list == [],
      \.optional.grade == Grade.none,
    ] {
      try expect(repository.filter(AllKinds.self, where: condition).ids(), equals: [empty.id], "\(condition)")
      try expect(repository.filter(AllKinds.self, where: !condition).ids(), equals: [none.id], "\(condition)")
    }
  }

  @Sendable private static func doubles(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: 3)
    let records = (0..<400).map { id in
      let (one, other) = (
        Double(bitPattern: random.next()), Double(bitPattern: random.next() & 0x800F_FFFF_FFFF_FFFF)
      )
      return Sample(id: id, value: one, other: other, maybe: Optional(one.nextUp))
    }
    let repository = try context.makeRepository(with: records)
    try expect(repository.fetch(Sample<Double>.self).map(\.exactText), equals: records.map(\.exactText))
  }

  @Sendable private static func floats(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: 6)
    let records = (0..<400).map { id in
      let bits = UInt32(truncatingIfNeeded: random.next())
      let small = Float(bitPattern: bits & 0x807F_FFFF)
      return Sample(id: id, value: Float(bitPattern: bits), other: small, maybe: Optional(small.nextUp))
    }
    let repository = try context.makeRepository(with: records)
    try expect(repository.fetch(Sample<Float>.self).map(\.exactText), equals: records.map(\.exactText))
  }

  @Sendable private static func dates(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: 4)
    let records = (0..<400).map { id in
      let date = Date(timeIntervalSinceReferenceDate: Double.random(in: -1e11...1e11, using: &random))
      let near = Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.nextUp)
      return Sample(
        id: id, value: date, other: near, maybe: Optional(Date(timeIntervalSince1970: Double(id) / 7)))
    }
    let repository = try context.makeRepository(with: records)
    try expect(repository.fetch(Sample<Date>.self).map(\.exactText), equals: records.map(\.exactText))
  }

  @Sendable private static func largeBlob(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var random = SeededGenerator(seed: 5)
    // Unoptimized code takes a second for as many words. No part repeats near enough for an engine to compress it.
    var words = [UInt64](repeating: 0, count: 128 << 10)
    for index in words.indices { words[index] = random.next() }
    var bytes = Data(capacity: 64 << 20)
    for number in 0..<64 {
      words[0] = UInt64(number)
      words.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
    try repository.save(contentsOf: [Blob(1, bytes), Blob(2, Data())])
    try expect(repository.find(Blob.self, id: 1)?.bytes, equals: bytes)
    try expect(repository.find(Blob.self, id: 2)?.bytes, equals: Data())
    try expect(repository.fetch(Blob.self).map(\.bytes.count), equals: [64 << 20, 0])
  }
}
