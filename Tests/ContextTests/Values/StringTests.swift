import ContextTestSupport
import PersistenceCore
import Testing

@Suite("V2 V3: strings")
struct StringTests {
  @Test("V2 scalars of every plane come back, scalar for scalar", arguments: ContextUnderTest.all)
  func everyPlane(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var texts: [String] = []
    // Every scalar below U+3000, and of each plane's rest every 97th and the last.
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
    #expect(found.count == texts.count)
    for (one, other) in zip(found, texts) { #expect(Array(one.utf8) == Array(other.utf8)) }
  }

  @Test(
    "V3 keys are compared by bytes: both forms of é, cases and U+0000 are different keys, in byte order",
    arguments: ContextUnderTest.all)
  func keys(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let keys = String.samples
    for key in keys { try repository.insert(Keyed(key, "label of \(key.exactText)")) }
    let sorted = keys.sorted { String.oracle($0, $1) < 0 }
    #expect(try repository.fetch(Keyed<String>.self).map(\.id.exactText) == sorted.map(\.exactText))
    for key in keys {
      let found = try repository.find(Keyed<String>.self, id: key)
      #expect(found?.id.exactText == key.exactText)
      #expect(found?.label == "label of \(key.exactText)")
      expectError(.duplicateKey) { try repository.insert(Keyed(key, "again")) }
    }
    #expect(try repository.delete(Keyed<String>.self, id: "\u{E9}"))
    #expect(try repository.find(Keyed<String>.self, id: "\u{E9}") == nil)
    #expect(try repository.find(Keyed<String>.self, id: "e\u{301}") != nil)
    #expect(try repository.count(Keyed<String>.self) == keys.count - 1)
  }

  @Test("V3 unique values are told apart by bytes", arguments: ContextUnderTest.all)
  func uniqueValues(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    for (number, text) in String.samples.enumerated() {
      var person = Person("\(number)")
      person.email = text
      try repository.insert(person)
    }
    #expect(try repository.count(Person.self) == String.samples.count)
    for text in String.samples {
      #expect(try repository.filter(Person.self, where: \.email == text).count() == 1)
    }
  }
}
