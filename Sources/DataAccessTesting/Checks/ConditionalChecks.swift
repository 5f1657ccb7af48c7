import DataAccess
import PersistenceCore

/// Updates that are done only where the store still holds what they began with.
enum ConditionalChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("a conditional update is done where the stored object is the expected one", met),
    DataSourceCheck(
      "a conditional update throws conflict where something else is stored, and changes nothing", missed),
    DataSourceCheck("a conditional update throws notFound where nothing is stored", absent),
    DataSourceCheck("NaN is as expected, and so are -0.0 and 0.0, which stores do not tell apart", numbers),
  ]

  @Sendable private static func met(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      let first = Parcel(1, name: "é\u{0}", weight: 0.1, priority: nil)
      try await store.insert(first)
      let second = Parcel(1, name: "e\u{301}", weight: 0.2, priority: 2)
      try expect(try await store.update(second, replacing: first), equals: second)
      try await store.update(Parcel(1), replacing: second)
      try expect(try await store.find(1), equals: Parcel(1))
    }
  }

  @Sendable private static func missed(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.insert(Parcel(1, name: "now", priority: nil))
      for expected in [Parcel(1, name: "then"), Parcel(1, name: "now", priority: 0)] {
        try await bench.expectError(.conflict, subject: "\(expected)") {
          try await store.update(Parcel(1, name: "lost"), replacing: expected)
        }
      }
      try expect(try await store.find(1), equals: Parcel(1, name: "now"))
    }
  }

  @Sendable private static func absent(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await bench.expectError(.notFound) { try await store.update(Parcel(1), replacing: Parcel(1)) }
      try expect(try await store.filter().count(), equals: 0)
      try await store.insert(Parcel(1))
      try await bench.expectError(.invalidRequest) {
        try await store.update(Parcel(1, name: "x"), replacing: Parcel(2))
      }
      try expect(try await store.find(1), equals: Parcel(1))
    }
  }

  @Sendable private static func numbers(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.insert(Parcel(1, weight: .nan))
      try await store.update(Parcel(1, weight: -0.0), replacing: Parcel(1, weight: -.nan))
      try await store.update(Parcel(1, weight: .infinity), replacing: Parcel(1, weight: 0))
      try await store.update(Parcel(1, weight: 2.5e-300), replacing: Parcel(1, weight: .infinity))
      try expect(try await store.find(1)?.weight, equals: 2.5e-300)
    }
  }
}
