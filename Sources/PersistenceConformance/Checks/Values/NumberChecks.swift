import Foundation
import PersistenceCore

/// V4 V5: numbers.
enum NumberChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("NaN equals NaN, so it can be found, and sorts after all numbers", [.v4], notANumber),
    ConformanceCheck("−0.0 is stored as 0.0 and equals it, for Double, Float and Date", [.v4], negativeZero),
    ConformanceCheck(
      "integers beyond 2^53 keep every digit in fields, keys, predicates and documents", [.v5], largeIntegers),
    ConformanceCheck("decimals keep 38 digits and sort by numeric value", [.v4a], decimals),
  ]

  @Sendable private static func notANumber(_ context: ContextUnderTest) throws {
    let values: [Double] = [.nan, 1, -.nan, .infinity, -.infinity, Double(bitPattern: 0x7FF0_0000_0000_0001)]
    let repository = try context.makeRepository(
      with: values.enumerated().map { Sample(id: $0, value: $1, other: 0, maybe: $1) })
    let nans = [0, 2, 5]
    let query = repository.filter(Sample<Double>.self)
    try expect(query.filter(where: \.value == .nan).ids(), equals: nans)
    try expect(query.filter(where: \.value > .infinity).ids(), equals: nans)
    try expect(query.filter(where: \.maybe == .nan).ids(), equals: nans)
    try expect(query.filter(where: .in(\.maybe, [.nan])).ids(), equals: nans)
    try expect(query.filter(where: !(\.value == .nan)).ids(), equals: [1, 3, 4])
    try expect(query.sorted(by: \.value).ids(), equals: [4, 1, 3, 0, 2, 5])
  }

  @Sendable private static func negativeZero(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    func check<Value: SampledValue>(_ negative: Value, _ zero: Value) throws {
      try repository.save(Sample(id: 1, value: negative, other: zero, maybe: negative))
      let found = try require(repository.find(Sample<Value>.self, id: 1))
      let query = repository.filter(Sample<Value>.self)
      try expect(found.value.exactText == zero.exactText && found.maybe.exactText == Optional(zero).exactText)
      try expect(query.filter(where: \.value == negative).count(), equals: 1)
      try expect(query.filter(where: \.value == zero && \.value == \.other).count(), equals: 1)
      try expect(query.filter(where: \.value < zero || \.maybe < zero).count(), equals: 0)
    }
    try check(-0.0, 0.0)
    try check(Float(-0.0), Float(0))
    try check(Date(timeIntervalSinceReferenceDate: -0.0), Date(timeIntervalSinceReferenceDate: 0))
  }

  @Sendable private static func largeIntegers(_ context: ContextUnderTest) throws {
    let numbers: [Int64] = [.min, .min + 1, -(1 << 53) - 1, (1 << 53) + 1, .max - 1, .max]
    let repository = try context.makeRepository(
      with: numbers.map { Keyed(WrappedNumber(rawValue: $0), "\($0)") })
    try expect(repository.fetch(Keyed<WrappedNumber>.self).map(\.id.rawValue), equals: numbers)
    for number in numbers {
      let same: PersistentPredicate<Keyed<WrappedNumber>> = \.id == WrappedNumber(rawValue: number)
      try expect(
        repository.filter(Keyed<WrappedNumber>.self, where: same).result().map(\.label), equals: ["\(number)"]
      )
      var record = AllKinds(id: UUID())
      record.address = Address(street: "", number: number)
      try repository.save(record)
      try expect(repository.find(AllKinds.self, id: record.id)?.address.number, equals: number)
    }
  }

  @Sendable private static func decimals(_ context: ContextUnderTest) throws {
    let values = Decimal.samples
    let repository = try context.makeRepository(
      with: values.reversed().enumerated().map { Sample(id: $0, value: $1, other: $1 + 1) })
    let found = try repository.filter(Sample<Decimal>.self).sorted(by: \.value).result().map(
      \.value.exactText)
    try expect(found, equals: values.sorted { Decimal.oracle($0, $1) < 0 }.map(\.exactText))
    let tenth = try require(Decimal(string: "0.10"))
    try expect(repository.filter(Sample<Decimal>.self, where: \.value == tenth).count(), equals: 1)
  }
}
