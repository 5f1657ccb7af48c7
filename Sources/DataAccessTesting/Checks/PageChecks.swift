import DataAccess
import PersistenceCore

/// Pagination.
enum PageChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("pages contain every object once, in order, and none is empty", whole),
    DataSourceCheck("an iteration can end early, and a sequence can be iterated twice", iterations),
    DataSourceCheck("two thousand objects arrive complete, at once and in pages", many),
  ]

  @Sendable private static func whole(_ source: AnyDataSource<Parcel>) async throws {
    try await source.apply(ChangeBatch((0..<23).map { .insert(Parcel($0, name: "n\($0 % 4)")) }))
    for size in [1, 5, 23, 100] {
      for query in [
        source.filter(), source.filter(where: \.name != "n1").sorted(by: \.name, inOrder: .descending),
        source.filter().sorted(by: \.name).offset(3).limit(9),
        source.filter(where: PersistentPredicate.none),
        source.filter().limit(0),
      ] {
        let wanted = try await query.result()
        var found: [Parcel] = []
        for try await page in query.pages(of: size) {
          try expect(!page.isEmpty && page.count <= size, "a page of \(page.count) for a size of \(size)")
          found += page
        }
        try expect(found, equals: wanted, "\(query.options) in pages of \(size)")
      }
    }
  }

  @Sendable private static func iterations(_ source: AnyDataSource<Parcel>) async throws {
    try await source.apply(ChangeBatch((0..<10).map { .insert(Parcel($0)) }))
    let pages = source.filter().pages(of: 3)
    for try await page in pages {
      try expect(page.map(\.id), equals: [0, 1, 2])
      break
    }
    var found: [Int] = []
    for try await page in pages { found += page.map(\.id) }
    try expect(found, equals: Array(0..<10))
    try await source.insert(Parcel(10))
    try expect(try await source.filter().count(), equals: 11)
  }

  @Sendable private static func many(_ source: AnyDataSource<Parcel>) async throws {
    for start in stride(from: 0, to: 2000, by: 500) {
      try await source.apply(
        ChangeBatch((start..<start + 500).map { .insert(Parcel($0, name: "parcel \($0)")) }))
    }
    try expect(try await source.filter().result().map(\.id), equals: Array(0..<2000))
    var found: [Int] = []
    for try await page in source.filter().pages(of: 333) { found += page.map(\.id) }
    try expect(found, equals: Array(0..<2000))
  }
}
