import Foundation
import PersistenceCore

/// V5 V6: numbers of different widths, and values out of a field's range.
enum WidthChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "fields of different widths compare by number, and text compares with URLs by text", [.v5, .v6],
      acrossWidths),
    ConformanceCheck(
      "a number out of a field's range is compared by its actual value", [.v5, .v6], beyondWidth),
    ConformanceCheck(
      "comparisons, lists, ranges, orders, pages and compound keys distinguish numbers around 2^53",
      [.v5], neighbours),
    ConformanceCheck(
      "decimals are equal by value, whatever their digits: in filters, lists, groups and unique indexes",
      [.v4a, .w4], decimalForms),
  ]

  @Sendable private static func acrossWidths(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: 70)
    let records = (0..<24).map { _ in
      var record = AllKinds.random(using: &random)
      record.int64 = random.oneIn(2) ? Int64(record.int8) : record.int64
      record.int32 = random.oneIn(3) ? Int32(record.uint16) : record.int32
      record.double = random.oneIn(2) ? Double(record.float) : record.double
      record.string = random.oneIn(2) ? record.url.absoluteString : record.string
      return record
    }
    let repository = try context.makeRepository(with: records)
    let pairs: [(String, String, @Sendable (AllKinds) -> Int?)] = [
      ("int8", "int64", { Int64.oracle(Int64($0.int8), $0.int64) }),
      ("uint16", "int32", { Int32.oracle(Int32($0.uint16), $0.int32) }),
      ("uint32", "int", { Int.oracle(Int($0.uint32), $0.int) }),
      ("uint8?", "int16", { record in record.optional.uint8.map { Int16.oracle(Int16($0), record.int16) } }),
      ("float", "double", { Double.oracle(Double($0.float), $0.double) }),
      (
        "metres?", "float",
        { record in record.optional.metres.map { Double.oracle($0.rawValue, Double(record.float)) } }
      ),
      ("string", "url", { String.oracle($0.string, $0.url.absoluteString) }),
      (
        "grade", "string?",
        { record in record.optional.string.map { String.oracle(record.grade.rawValue, $0) } }
      ),
    ]
    var conditions: [Condition<AllKinds>] = []
    for (left, right, order) in pairs {
      for comparison in [ComparisonOperator.less, .greaterOrEqual, .equal] {
        let node = PredicateNode.fieldComparison(left: left, comparison, right: right)
        conditions.append(
          Condition(PersistentPredicate(node: node)) { order($0).map(comparison.holds) ?? false })
      }
    }
    try expect(conditions, over: records, in: repository)
  }

  @Sendable private static func beyondWidth(_ context: ContextUnderTest) throws {
    func check<Value: SampledValue>(
      _ kind: Value.Type, _ values: [PersistentValue],
      _ order: @escaping @Sendable (Value, PersistentValue) -> Int
    ) throws {
      let models = Sample<Value>.all(seed: 71)
      let repository = try context.makeRepository(with: models)
      let conditions = values.flatMap { value in
        ComparisonOperator.allCases.map { comparison in
          let node = PredicateNode.comparison(field: "value", comparison, value)
          return Condition<Sample<Value>>(PersistentPredicate(node: node)) {
            comparison.holds(order($0.value, value))
          }
        }
      }
      try expect(conditions, over: models, in: repository)
    }
    @Sendable func integer(_ value: PersistentValue) -> Int64 {
      if case .integer(let number) = value { number } else { 0 }
    }
    let wide: [PersistentValue] = [-1, 128, -129, 256, 1 << 32, .min, .max].map { .integer($0) }
    try check(Int8.self, wide) { Int64.oracle(Int64($0), integer($1)) }
    try check(UInt8.self, wide) { Int64.oracle(Int64($0), integer($1)) }
    try check(UInt32.self, wide) { Int64.oracle(Int64($0), integer($1)) }
    let fine: [Double] = [0.1, 16_777_217, 1e300, -1e300, 1e-300, .nan, -0.0]
    try check(Float.self, fine.map { .double($0) }) { number, value in
      guard case .double(let other) = value else { return 0 }
      return Double.oracle(Double(number), other)
    }
  }

  @Sendable private static func neighbours(_ context: ContextUnderTest) throws {
    let edges: [Int64] = [1 << 53, -(1 << 53), 1 << 62, .max - 3, .min + 3]
    let numbers = edges.flatMap { edge in (-3...3).map { edge + $0 } }.sorted()
    let repository = try context.makeRepository(
      with: numbers.enumerated().reversed().map {
        Sample(id: $0, value: $1, other: $1, maybe: $1, perhaps: $1)
      })
    try repository.save(contentsOf: numbers.map { Seat(hall: UUID.samples[0], row: "", number: Int($0)) })
    let query = repository.filter(Sample<Int64>.self)
    for (place, number) in numbers.enumerated() {
      try expect(query.filter(where: \.value == number).ids(), equals: [place], "\(number)")
      try expect(query.filter(where: .in(\.perhaps, [number])).ids(), equals: [place], "\(number)")
      try expect(query.filter(where: .between(\.maybe, number...number)).count(), equals: 1, "\(number)")
      try expect(query.filter(where: \.other < number).count(), equals: place, "\(number)")
      let seat = Seat.ID(hall: UUID.samples[0], row: "", number: Int(number))
      try expect(repository.find(Seat.self, id: seat)?.number, equals: Int(number))
    }
    for path in [\Sample<Int64>.perhaps, \.maybe] as [SendableKeyPath<Sample<Int64>, Int64?>] {
      try expect(pages(of: 2, query.sorted(by: path)).map(\.id), equals: Array(numbers.indices))
    }
    try expect(pages(of: 3, repository.filter(Seat.self)).map(\.number), equals: numbers.map { Int($0) })
  }

  @Sendable private static func decimalForms(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let one = Decimal(1)
    let forms = [2, 10, 37].compactMap { digits in
      Decimal(string: "1" + String(repeating: "0", count: digits)).map {
        Decimal(sign: .plus, exponent: -digits, significand: $0)
      }
    }
    let negativeZero = Decimal(sign: .minus, exponent: -5, significand: 0)
    try repository.insert(contentsOf: [UniqueValue(1, one), UniqueValue(2, Decimal(0)), UniqueValue(3, .nan)])
    for (other, id) in forms.map({ ($0, 1) }) + [(negativeZero, 2), (Decimal.nan, 3)] {
      let query = repository.filter(UniqueValue<Decimal>.self)
      try expect(query.filter(where: \.value == other).ids(), equals: [id], "\(other)")
      try expect(query.filter(where: .in(\.value, [other])).ids(), equals: [id], "\(other)")
      try expect(query.filter(where: \.value >= other && \.value <= other).ids(), equals: [id], "\(other)")
      try expectError(.uniqueViolation, "\(other)") { try repository.insert(UniqueValue(9, other)) }
      try repository.update(UniqueValue(id, other))
      let found = try require(repository.find(UniqueValue<Decimal>.self, id: id)?.value)
      try expect(Decimal.oracle(found, other), equals: 0, "\(other)")
    }
  }
}
