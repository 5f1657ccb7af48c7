import DataAccess
import PersistenceCore

/// Keys with special characters.
enum KeyChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("a key can look like a path or a query, or be empty", hostile),
    DataSourceCheck("a key can have two fields", compound),
  ]

  @Sendable private static func hostile(_ source: AnyDataSource<Named>) async throws {
    let keys = [
      "", " ", ".", "..", "../../x", "a/b", "/", "?", "a?b=c&d", "#", "%", "%2F", "%00", "a+b", "a b", "a,b",
      "é",
      "e\u{301}", "\u{0}", "a\u{0}", "\u{1F600}", "\"", "'", "\\", "\n", "null", "1", "true", "~", "(", ";",
      "A", "a",
      String(repeating: "k", count: 200),
    ]
    for (number, key) in keys.enumerated() {
      try expect(try await source.find(key), equals: nil, "“\(key)” before")
      try await source.insert(Named(key, nickname: "first \(number)"))
    }
    for (number, key) in keys.enumerated() {
      let first = Named(key, nickname: "first \(number)")
      try expect(try await source.find(key), equals: first, "“\(key)” found")
      try await source.update(Named(key), replacing: first)
      try await source.save(Named(key, nickname: "second \(number)"))
    }
    try expect(
      try await source.filter().result().map { Array($0.name.utf8) },
      equals: keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    for (number, key) in keys.enumerated() {
      try expect(
        try await source.delete(Named(key)), equals: Named(key, nickname: "second \(number)"),
        "“\(key)” deleted")
    }
    try expect(try await source.filter().count(), equals: 0)
  }

  @Sendable private static func compound(_ source: AnyDataSource<Seat>) async throws {
    for seat in [Seat("b", 1, guest: "x"), Seat("a,1", 2, guest: "y"), Seat("a", 12, guest: "z")] {
      try await source.insert(seat)
    }
    try await expectError(.duplicateKey) { try await source.insert(Seat("a", 12, guest: "w")) }
    try expect(try await source.find(Seat.Place(row: "a,1", number: 2))?.guest, equals: "y")
    try expect(try await source.find(Seat.Place(row: "a", number: 1)), equals: nil)
    try await source.update(Seat("a", 12, guest: "v"), replacing: Seat("a", 12, guest: "z"))
    try expect(try await source.filter().result().map(\.guest), equals: ["v", "y", "x"])
    try expect(
      try await source.filter().after(Seat("a", 12, guest: "")).result().map(\.guest), equals: ["y", "x"])
    try expect(try await source.delete(Seat("b", 1, guest: ""))?.guest, equals: "x")
  }
}
