import DataAccess
import Foundation
import PersistenceCore

/// Values survive a round trip.
enum ValueChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("values of every type survive a round trip bit for bit", roundTrip),
    DataSourceCheck("-0.0 is stored as 0.0, and every NaN as one NaN", folded),
    DataSourceCheck("values of every type can be filtered", conditions),
  ]

  private static let samples: [@Sendable (inout Kinds) -> Void] = [
    { _ in },
    { $0.bool = true }, { $0.bool = false }, { $0.small = .min }, { $0.integer = .max },
    { $0.integer = .min },
    { $0.integer = 1 << 53 + 1 }, { $0.integer = -(1 << 53) - 1 }, { $0.float = 0.1 },
    { $0.float = .greatestFiniteMagnitude }, { $0.float = .nan }, { $0.double = 0.1 + 0.2 },
    { $0.double = .leastNonzeroMagnitude }, { $0.double = -.greatestFiniteMagnitude }, { $0.double = .nan },
    { $0.double = .infinity }, { $0.double = -.infinity }, { $0.double = 1e300 }, { $0.double = 3 },
    { $0.text = "" }, { $0.text = "a\u{0}b" }, { $0.text = "e\u{301} é 👩‍👩‍👧 \u{FFFD}\u{10FFFF}\u{FEFF}" },
    { $0.text = "\"\\\n\r\t\u{7F}\u{85}\u{2028}/%_'; DROP" }, { $0.text = "null" },
    { $0.text = String(repeating: "long ", count: 4000) },
    { $0.bytes = [] }, { $0.bytes = Array(0...255) }, { $0.data = Data() },
    { $0.data = Data([0, 255, 10, 34]) },
    { $0.date = Date(timeIntervalSinceReferenceDate: 0.1 + 0.2) },
    { $0.date = Date(timeIntervalSinceReferenceDate: -1e9 / 7) },
    { $0.date = Date(timeIntervalSinceReferenceDate: 757_382_400.000001) },
    { $0.uuid = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 254, 255)) },
    { $0.url = URL(string: "https://example.org/a%20b?q=%C3%A9&x=1#f") },
    { $0.decimal = Decimal(string: "0.1") },
    { $0.decimal = Decimal(string: "-123456789012345678901234567890.12345678") }, { $0.decimal = 0 },
    { $0.nested = Kinds.Nested(text: "a\u{0}\"é", number: .max - 1, list: [0.1, nil, -1e-300]) },
    { $0.nested = Kinds.Nested(text: "", number: .min, list: []) },
  ]

  @Sendable private static func roundTrip(_ source: AnyDataSource<Kinds>) async throws {
    for (number, change) in samples.enumerated() {
      var sample = Kinds()
      change(&sample)
      let wanted = try sample.stored
      let inserted = try await source.insert(sample)
      try expect(try inserted.stored, equals: wanted, "the result of insert for sample \(number)")
      try expect(try await source.find(sample.id)?.stored, equals: wanted, "sample \(number), from find")
      let expected = sample
      sample.small = 1
      try await source.update(sample, replacing: expected)
      try await source.apply(ChangeBatch([.update(expected, replacing: sample)]))
      let fetched = try await source.filter(where: \.id == sample.id).result()
      try expect(
        try fetched.first?.stored, equals: wanted, "sample \(number), from a query after two updates")
      try expect(
        try await source.delete(expected)?.stored, equals: wanted,
        "the result of delete for sample \(number)")
    }
  }

  @Sendable private static func folded(_ source: AnyDataSource<Kinds>) async throws {
    var sample = Kinds()
    sample.double = -0.0
    sample.float = -.nan
    try await source.insert(sample)
    let found = try await source.find(sample.id)
    try expect(found?.double?.sign, equals: .plus)
    try expect(found?.float?.isNaN, equals: true)
    try expect(try await source.filter(where: \.double == -0.0 && \.float == .nan).count(), equals: 1)
  }

  @Sendable private static func conditions(_ source: AnyDataSource<Kinds>) async throws {
    var sample = Kinds()
    for change in samples.reversed() { change(&sample) }
    sample.integer = 1 << 53 + 1
    try await source.insert(sample)
    try await source.insert(Kinds())
    let conditions: [PersistentPredicate<Kinds>] = [
      \.id == sample.id, \.bool == sample.bool, \.small == sample.small, \.integer > 1 << 53,
      \.integer == sample.integer, \.float == sample.float, \.double == sample.double,
      \.text == sample.text,
      \.bytes == sample.bytes, \.data == sample.data, \.date == sample.date, \.date >= sample.date,
      \.uuid == sample.uuid, \.url == sample.url, \.decimal == sample.decimal, \.decimal <= sample.decimal,
      \.nested == sample.nested, \.text != nil && \.date != nil,
    ]
    for (number, condition) in conditions.enumerated() {
      try expect(
        try await source.filter(where: condition).result().map(\.id), equals: [sample.id],
        "condition \(number): \(condition)")
    }
    try expect(try await source.filter(where: \.integer == 1 << 53).count(), equals: 0)
    try expect(try await source.filter(where: \.decimal == nil).count(), equals: 1)
  }
}
