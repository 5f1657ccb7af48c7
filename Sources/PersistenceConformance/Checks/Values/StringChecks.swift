import PersistenceCore

/// V2 V3: strings.
enum StringChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("text of every plane keeps every scalar", [.v2], everyPlane),
    ConformanceCheck(
      "keys compare by bytes: both forms of é, cases and U+0000 are different keys, in byte order",
      [.v3], keys),
    ConformanceCheck("unique values compare by bytes", [.v3], uniqueValues),
  ]

  @Sendable private static func everyPlane(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var texts: [String] = []
    // Every scalar below U+3000, and of the rest of each plane every 97th and the last.
    let chosen =
      Array(0..<0x3000) + Array(stride(from: 0x3000, through: 0x10_FFFF, by: 97))
      + (0...16).map { $0 << 16 | 0xFFFF }
    for start in stride(from: 0, to: chosen.count, by: 1024) {
      var view = String.UnicodeScalarView()
      for value in chosen[start..<min(start + 1024, chosen.count)] {
        if let scalar = Unicode.Scalar(UInt32(value)) { view.append(scalar) }
      }
      texts.append(String(view))
    }
    try repository.save(contentsOf: texts.enumerated().map { Keyed($0, $1) })
    let found = try repository.fetch(Keyed<Int>.self).map(\.label)
    try expect(found.count, equals: texts.count)
    for (one, other) in zip(found, texts) { try expect(Array(one.utf8), equals: Array(other.utf8)) }
  }

  @Sendable private static func keys(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let keys = String.samples
    for key in keys { try repository.insert(Keyed(key, "label of \(key.exactText)")) }
    let sorted = keys.sorted { String.oracle($0, $1) < 0 }
    try expect(repository.fetch(Keyed<String>.self).map(\.id.exactText), equals: sorted.map(\.exactText))
    for key in keys {
      let found = try repository.find(Keyed<String>.self, id: key)
      try expect(found?.id.exactText, equals: key.exactText)
      try expect(found?.label, equals: "label of \(key.exactText)")
      try expectError(.duplicateKey) { try repository.insert(Keyed(key, "again")) }
    }
    try expect(repository.delete(Keyed<String>.self, id: "\u{E9}"))
    try expect(repository.find(Keyed<String>.self, id: "\u{E9}") == nil)
    try expect(repository.find(Keyed<String>.self, id: "e\u{301}") != nil)
    try expect(repository.count(Keyed<String>.self), equals: keys.count - 1)
  }

  @Sendable private static func uniqueValues(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    for (number, text) in String.samples.enumerated() {
      try repository.insert(Person("\(number)", email: text))
    }
    try expect(repository.count(Person.self), equals: String.samples.count)
    for text in String.samples {
      try expect(repository.filter(Person.self, where: \.email == text).count(), equals: 1)
    }
  }
}
