import Foundation
import Persistence
import Testing

@Suite("Decision 1: handwritten code can do all that the macro does")
struct MacroAndHandTests {
  @Test("V1 both declarations have the same schema")
  func schemas() throws {
    #expect(try KindsByMacro.schema.model == KindsByHand.schema.model)
    #expect(
      try KindsByMacro.schema.model.fields.map(\.description)
        == KindsByHand.schema.model.fields.map(\.description))
    #expect(KindsByMacro.fieldName(for: \KindsByMacro.optionalBool) == "maybe bool")
    #expect(KindsByMacro.fieldName(for: \KindsByMacro.note) == nil)
  }

  @Test("V2 both encode the same row and decode each other's")
  func rows() throws {
    for sample in try KindsByMacro.samples() {
      let hand = try KindsByHand.read(fromRowOf: sample)
      #expect(try hand.rowValues() == sample.rowValues())
      #expect(try KindsByMacro.read(fromRowOf: hand) == sample)
      #expect(hand.primaryKey == sample.primaryKey)
      #expect(hand.recordKey == sample.recordKey)
    }
  }

  @Test("V2 one saves records and the other fetches them from the same store")
  func stores() throws {
    let repository = Repository(MemoryContext())
    let samples = try KindsByMacro.samples()
    try repository.save(contentsOf: samples)
    let hands = Array(try repository.fetch(KindsByHand.self))
    #expect(try hands.map { try $0.rowValues() } == samples.map { try $0.rowValues() })
    try repository.deleteAll(KindsByHand.self)
    #expect(try repository.count(KindsByMacro.self) == 0)
    try repository.save(contentsOf: hands)
    #expect(Array(try repository.fetch(KindsByMacro.self)) == samples)
    let query = repository.filter(KindsByHand.self, where: \.optionalAddress == Address(street: ""))
    #expect(try query.first()?.name == "\u{E9}")
  }

  @Test("W4 both enforce their indexes")
  func uniqueIndexes() throws {
    let repository = Repository(MemoryContext())
    let samples = try KindsByMacro.samples()
    try repository.save(contentsOf: samples)
    var other = try KindsByHand.read(fromRowOf: samples[0])
    other.name = "other"
    let error = try #require(throws: PersistenceError.self) { try repository.insert(other) }
    #expect(error.code == .uniqueViolation)
    #expect(error.field == "level, int")
  }

  @Test("@Transient properties are not stored; a fetched model has their initial value")
  func transient() throws {
    let repository = Repository(MemoryContext())
    var sample = try KindsByMacro.samples()[0]
    sample.note = "changed"
    try repository.save(sample)
    #expect(try repository.find(KindsByMacro.self, id: sample.name)?.note == "new")
  }
}
