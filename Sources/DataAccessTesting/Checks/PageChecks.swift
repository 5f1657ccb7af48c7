import DataAccess
import PersistenceCore

/// Results that come in pages.
enum PageChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("pages hold every object once, in order, and none is empty", whole),
    DataSourceCheck("a walk that is given up, and a sequence that is walked twice", walks),
    DataSourceCheck("two thousand objects come whole and in pages", many),
  ]

  @Sendable private static func whole(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.apply(ChangeBatch((0..<23).map { .insert(Parcel($0, name: "n\($0 % 4)")) }))
      for size in [1, 5, 23, 100] {
        for query in [
          store.filter(), store.filter(where: \.name != "n1").sorted(by: \.name, inOrder: .descending),
          store.filter().sorted(by: \.name).offset(3).limit(9), store.filter(where: PersistentPredicate.none),
          store.filter().limit(0),
        ] {
          let wanted = try await query.result()
          var found: [Parcel] = []
          for try await page in query.pages(of: size) {
            try expect(
              !page.isEmpty && page.count <= size, "a page of \(page.count) where \(size) were asked for")
            found += page
          }
          try expect(found, equals: wanted, "\(query.options) in pages of \(size)")
        }
      }
    }
  }

  @Sendable private static func walks(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.apply(ChangeBatch((0..<10).map { .insert(Parcel($0)) }))
      let pages = store.filter().pages(of: 3)
      for try await page in pages {
        try expect(page.map(\.id), equals: [0, 1, 2])
        break
      }
      var found: [Int] = []
      for try await page in pages { found += page.map(\.id) }
      try expect(found, equals: Array(0..<10))
      try await store.insert(Parcel(10))
      try expect(try await store.filter().count(), equals: 11)
    }
  }

  @Sendable private static func many(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      for start in stride(from: 0, to: 2000, by: 500) {
        try await store.apply(
          ChangeBatch((start..<start + 500).map { .insert(Parcel($0, name: "parcel \($0)")) }))
      }
      try expect(try await store.filter().result().map(\.id), equals: Array(0..<2000))
      var found: [Int] = []
      for try await page in store.filter().pages(of: 333) { found += page.map(\.id) }
      try expect(found, equals: Array(0..<2000))
    }
  }
}
