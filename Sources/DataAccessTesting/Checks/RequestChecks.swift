import DataAccess
import PersistenceCore

/// Requests that make no sense.
enum RequestChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("a request that makes no sense is refused as such, and the store goes on", senseless)
  ]

  @Sendable private static func senseless(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.insert(Parcel(1))
      try await bench.expectError(.invalidRequest) { try await store.filter().limit(-1).result() }
      try await bench.expectError(.invalidRequest) { try await store.filter().offset(-1).result() }
      try await bench.expectError(.invalidRequest) { try await store.filter().offset(-1).count() }
      try await bench.expectError(.invalidRequest) {
        try await store.filter(where: .matches(\.name, "(")).result()
      }
      let unknown = PersistentPredicate<Parcel>(node: .comparison(field: "no field", .equal, .integer(1)))
      try await bench.expectError(.unknownField) { try await store.filter(where: unknown).result() }
      try await bench.expectError(.unknownField) { try await store.filter(where: unknown).count() }
      let order = SortCriterion<Parcel>(fieldOrder: FieldOrder("no field", isDescending: false))
      try await bench.expectError(.unknownField) { try await store.filter().sorted(by: order).result() }
      let mistyped = PersistentPredicate<Parcel>(node: .comparison(field: "name", .equal, .integer(1)))
      try await bench.expectError(.invalidRequest) { try await store.filter(where: mistyped).result() }
      try await bench.expectError(.invalidRequest) {
        for try await _ in store.filter().limit(-1).pages(of: 2) {}
      }
      try expect(try await store.filter().count(), equals: 1)
    }
  }
}
