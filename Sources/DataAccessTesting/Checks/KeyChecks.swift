import DataAccess
import PersistenceCore

/// Keys are data, whatever they look like.
enum KeyChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("texts that look like paths, queries or nothing are keys like any other", hostile),
    DataSourceCheck("a key of two fields", compound),
  ]

  @Sendable private static func hostile(_ bench: DataSourceTestBed) async throws {
    let keys = [
      "", " ", ".", "..", "../../x", "a/b", "/", "?", "a?b=c&d", "#", "%", "%2F", "%00", "a+b", "a b", "a,b",
      "é",
      "e\u{301}", "\u{0}", "a\u{0}", "\u{1F600}", "\"", "'", "\\", "\n", "null", "1", "true", "~", "(", ";",
      "A", "a",
      String(repeating: "k", count: 200),
    ]
    try await bench.withStore(of: Named.self) { store in
      for (number, key) in keys.enumerated() {
        try expect(try await store.find(key), equals: nil, "“\(key)” before")
        try await store.insert(Named(key, nickname: "first \(number)"))
      }
      for (number, key) in keys.enumerated() {
        let first = Named(key, nickname: "first \(number)")
        try expect(try await store.find(key), equals: first, "“\(key)” found")
        try await store.update(Named(key), replacing: first)
        try await store.save(Named(key, nickname: "second \(number)"))
      }
      try expect(
        try await store.filter().result().map { Array($0.name.utf8) },
        equals: keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
      for (number, key) in keys.enumerated() {
        try expect(
          try await store.delete(Named(key)), equals: Named(key, nickname: "second \(number)"),
          "“\(key)” deleted")
      }
      try expect(try await store.filter().count(), equals: 0)
    }
  }

  @Sendable private static func compound(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Seat.self) { store in
      for seat in [Seat("b", 1, guest: "x"), Seat("a,1", 2, guest: "y"), Seat("a", 12, guest: "z")] {
        try await store.insert(seat)
      }
      try await bench.expectError(.duplicateKey) { try await store.insert(Seat("a", 12, guest: "w")) }
      try expect(try await store.find(Seat.Place(row: "a,1", number: 2))?.guest, equals: "y")
      try expect(try await store.find(Seat.Place(row: "a", number: 1)), equals: nil)
      try await store.update(Seat("a", 12, guest: "v"), replacing: Seat("a", 12, guest: "z"))
      try expect(try await store.filter().result().map(\.guest), equals: ["v", "y", "x"])
      try expect(
        try await store.filter().after(Seat("a", 12, guest: "")).result().map(\.guest), equals: ["y", "x"])
      try expect(try await store.delete(Seat("b", 1, guest: ""))?.guest, equals: "x")
    }
  }
}
