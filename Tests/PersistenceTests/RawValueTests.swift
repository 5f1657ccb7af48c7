import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import Testing

private enum Grade: String, Codable, PersistentValueConvertible { case good, bad }
private enum Plain: String, Codable { case good, bad }

/// Takes more raw values than its cases have.
private enum Mood: String, Codable, CaseIterable {
  case glad = "gai", sad = "tr\u{E9}s triste", unknown = "?"
  init(rawValue: String) { self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown }
}
private enum Height: String, CaseIterable, PersistentValueConvertible { case low, high }

/// The JSON of a grade, as versions before stored a Codable enumeration.
private struct OldGrade: Codable, Sendable {
  var text: String
  init(_ text: String) { self.text = text }
  init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

private struct Before: PersistentRecord {
  var id: Int
  var grade: OldGrade
  init(_ id: Int, _ grade: String) { (self.id, self.grade) = (id, OldGrade(grade)) }
  static let schema = RecordSchema<Before>(
    "Work", fields: [.field("id", \.id), .field("grade", \.grade)], key: [\.id])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws { (id, grade) = (try row.decode(at: 0), try row.decode(at: 1)) }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    try row.encode(grade, at: 1)
  }
}

private struct Now: PersistentRecord {
  var id: Int
  var grade: Plain
  init(_ id: Int, _ grade: Plain) { (self.id, self.grade) = (id, grade) }
  static let schema = RecordSchema<Now>(
    "Work", fields: [.field("id", \.id), .field("grade", \.grade)], key: [\.id])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws { (id, grade) = (try row.decode(at: 0), try row.decode(at: 1)) }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(grade, at: 1)
  }
}

private struct Moved: PersistentRecord {
  var id: Int
  var grade: Grade
  static let schema = RecordSchema<Moved>(
    "Work", fields: [.field("id", \.id), .field("grade2", \.grade)], key: [\.id])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws { (id, grade) = (try row.decode(at: 0), try row.decode(at: 1)) }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(grade, at: 1)
  }
}

private enum MovedSchema: StoreSchema {
  static let models: [any PersistentRecord.Type] = [Moved.self]
  static let evolution: [EvolutionRule] = [
    .compute(\Moved.grade, from: "grade") { old in try old.document("grade", as: Grade.self) }
  ]
}

@Suite("V1 raw-representable Codable values")
struct RawValueTests {
  @Test(
    "E4 a store that holds them as documents is refused with the rule that moves them, and the rule moves them"
  )
  func documents() throws {
    let context = MemoryContext()
    try Repository(context).save(contentsOf: [Before(1, "good"), Before(2, "bad")])
    let error = #expect(throws: PersistenceError.self) { try Repository(context).save(Now(3, .good)) }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.contains("old.document(\"grade\")") == true, "\(String(describing: error))")
    let moved = try Repository(context, schema: MovedSchema.self)
    #expect(try moved.filter(Moved.self, where: \.grade == .bad).result().map(\.id) == [2])
    #expect(try moved.count(Moved.self) == 2)
  }

  @Test("declaring PersistentValueConvertible later changes nothing in the store")
  func conformance() throws {
    #expect(try Now.schema.model.field(named: "grade") == FieldSchema("grade", .string))
    #expect(Grade.persistentKind == .string)
  }

  @Test("V2 cases are found by names, also canonically equivalent ones, else by the type’s own initializer")
  func cases() throws {
    let row = RowBuffer(count: 5)
    row.set([.text("gai"), .text("tre\u{301}s triste"), .text("new"), .null, .text("high")])
    try row.withRow { row in
      let moods: [Mood] = try [row.decode(at: 0), row.decode(at: 1), row.decode(at: 2)]
      #expect(moods == [.glad, .sad, .unknown])
      let (glad, none): (Mood?, Mood?) = (try row.decode(at: 0), try row.decode(at: 3))
      #expect(glad == .glad && none == nil)
      let level: Height = try row.decode(at: 4)
      #expect(level == .high)
      let unknown = #expect(throws: PersistenceError.self) { try Height.read(from: row, at: 0) }
      #expect(unknown?.code == .unknownCase)
      let missing = #expect(throws: PersistenceError.self) { try Height.read(from: row, at: 3) }
      #expect(missing?.code == .damaged)
    }
  }

  @Test("V6 equality, order, membership, selection and an unknown raw value")
  func queries() throws {
    let context = MemoryContext()
    let repository = Repository(context)
    try repository.save(contentsOf: [Now(1, .good), Now(2, .bad), Now(3, .good)])
    let query = repository.filter(Now.self)
    #expect(try query.filter(where: \.grade == .good).count() == 2)
    #expect(try query.filter(where: \.grade < .good).result().map(\.id) == [2])
    #expect(try query.filter(where: .in(\.grade, [.bad])).result().map(\.id) == [2])
    #expect(try query.sorted(by: \.grade).result().map(\.id) == [2, 1, 3])
    #expect(try Array(query.select(\.grade)) == [.good, .bad, .good])
    let (bad, all) = (Plain.bad, [Plain.bad, .good])
    #expect(try repository.filter(Now.self, where: #Predicate { $0.grade == bad }).count() == 1)
    #expect(try repository.filter(Now.self, where: #Predicate { all.contains($0.grade) }).count() == 3)
    try repository.update(Now.self, where: .all, set: .set(\.grade, to: .bad))
    #expect(try query.filter(where: \.grade == .bad).count() == 3)
    try context.transaction { transaction in
      let row = RowBuffer(count: 2)
      row.set(.integer(4), at: 0)
      row.set(.text("unknown"), at: 1)
      try row.withRow { try transaction.save($0, in: Now.schema.model) }
    }
    let unknown = #expect(throws: PersistenceError.self) { try repository.find(Now.self, id: 4) }
    #expect(unknown?.code == .unknownCase)
  }
}
