import DataAccess
import PersistenceCore

/// Updates on condition that the stored object is unchanged.
enum ConditionalChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("a conditional update replaces an object that equals the expected one", met),
    DataSourceCheck(
      "a conditional update throws conflict if the stored object differs, and changes nothing", missed),
    DataSourceCheck("a conditional update throws notFound if the object does not exist", absent),
    DataSourceCheck("NaN equals NaN and -0.0 equals 0.0 in a conditional update", numbers),
  ]

  @Sendable private static func met(_ source: AnyDataSource<Parcel>) async throws {
    let first = Parcel(1, name: "é\u{0}", weight: 0.1, priority: nil)
    try await source.insert(first)
    let second = Parcel(1, name: "e\u{301}", weight: 0.2, priority: 2)
    try expect(try await source.update(second, replacing: first), equals: second)
    try await source.update(Parcel(1), replacing: second)
    try expect(try await source.find(1), equals: Parcel(1))
  }

  @Sendable private static func missed(_ source: AnyDataSource<Parcel>) async throws {
    try await source.insert(Parcel(1, name: "now", priority: nil))
    for expected in [Parcel(1, name: "then"), Parcel(1, name: "now", priority: 0)] {
      try await expectError(.conflict, subject: "\(expected)") {
        try await source.update(Parcel(1, name: "lost"), replacing: expected)
      }
    }
    try expect(try await source.find(1), equals: Parcel(1, name: "now"))
  }

  @Sendable private static func absent(_ source: AnyDataSource<Parcel>) async throws {
    try await expectError(.notFound) { try await source.update(Parcel(1), replacing: Parcel(1)) }
    try expect(try await source.filter().count(), equals: 0)
    try await source.insert(Parcel(1))
    try await expectError(.invalidRequest) {
      try await source.update(Parcel(1, name: "x"), replacing: Parcel(2))
    }
    try expect(try await source.find(1), equals: Parcel(1))
  }

  @Sendable private static func numbers(_ source: AnyDataSource<Parcel>) async throws {
    try await source.insert(Parcel(1, weight: .nan))
    try await source.update(Parcel(1, weight: -0.0), replacing: Parcel(1, weight: -.nan))
    try await source.update(Parcel(1, weight: .infinity), replacing: Parcel(1, weight: 0))
    try await source.update(Parcel(1, weight: 2.5e-300), replacing: Parcel(1, weight: .infinity))
    try expect(try await source.find(1)?.weight, equals: 2.5e-300)
  }
}
