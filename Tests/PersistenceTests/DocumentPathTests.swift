import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// A record with one nested value of any type.
private struct Holder<Value: Codable & Sendable>: PersistentRecord {
  var id: Int
  var value: Value
  var maybe: Value?
  var other: Value? {
    didSet { changes += 1 }
  }
  var changes = 0

  init(_ id: Int, _ value: Value, maybe: Value? = nil) {
    (self.id, self.value, self.maybe) = (id, value, maybe)
  }

  static var schema: RecordSchema<Holder> {
    .shared(for: Holder.self) {
      RecordSchema(
        "Holder",
        fields: [
          .field("id", \.id), .field("value", \.value), .field("maybe", \.maybe), .field("other", \.other),
        ], key: [\.id])
    }
  }
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws {
    (id, value) = (try row.decode(at: 0), try row.decode(at: 1))
    (maybe, other) = (try row.decode(at: 2), try row.decode(at: 3))
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    try row.encode(value, at: 1)
    try row.encode(maybe, at: 2)
    try row.encode(other, at: 3)
  }
}

@Suite("V8 key paths into documents")
struct DocumentPathTests {
  /// The path of a condition in the stored JSON, with the field.
  private func path<Model>(_ predicate: PersistentPredicate<Model>) -> [String]? {
    guard case .document(let field, let path, _) = predicate.node else { return nil }
    return [field] + path
  }

  /// The error of a query with a condition.
  private func refusal<Model: PersistentRecord>(_ predicate: PersistentPredicate<Model>) -> PersistenceError?
  {
    #expect(throws: PersistenceError.self) {
      try Repository(MemoryContext()).filter(Model.self, where: predicate).count()
    }
  }

  private struct Swapped: Codable {
    var first = ""
    var second = ""
    var third: [String: Int]?
    enum CodingKeys: String, CodingKey {
      case first = "second"
      case second = "first"
      case third = "with \"quotes\" and é"
    }
  }

  @Test("coding keys name the members, also those that other properties have as names")
  func codingKeys() throws {
    #expect(path(\Holder<Swapped>.maybe?.first == "x") == ["maybe", "second"])
    #expect(path(\Holder<Swapped>.maybe?.second == "x") == ["maybe", "first"])
    #expect(path(\Holder<Swapped>.maybe?.third == ["a": 1]) == ["maybe", "with \"quotes\" and é"])
    let repository = Repository(MemoryContext())
    var swapped = Swapped()
    swapped.first = "x"
    try repository.save(Holder(1, swapped, maybe: swapped))
    let found = repository.filter(Holder<Swapped>.self, where: \.maybe?.first == "x" && \.value.first == "x")
    #expect(try found.count() == 1)
    #expect(try found.filter(where: \.value.second == "x").count() == 0)
  }

  private struct Flags: Codable {
    var isNew = true
    var name = ""
    var isOld = false
    var text = ""
    var fresh = false
    enum CodingKeys: String, CodingKey {
      case isNew = "fresh"
      case name
      case isOld = "stale"
      case text
      case fresh = "isNew"
    }
  }

  @Test("coding keys of properties with few values are distinguished")
  func fewValues() {
    #expect(path(\Holder<Flags>.value.isNew == true) == ["value", "fresh"])
    #expect(path(\Holder<Flags>.value.isOld == true) == ["value", "stale"])
    #expect(path(\Holder<Flags>.value.fresh == true) == ["value", "isNew"])
  }

  @Test("a property with observers is compared as a whole, and its parts are refused")
  func observers() throws {
    #expect(path(\Holder<Swapped>.value.first == "x") == ["value", "second"])
    let error = try #require(refusal(\Holder<Swapped>.other?.first == "x"))
    #expect(error.code == .unknownField && error.message.contains("observers"), "\(error)")
    #expect(try Repository(MemoryContext()).filter(Holder<[Int]>.self, where: \.other == [1]).count() == 0)
  }

  private struct Unstored: Codable {
    var isActive = true
    var quantity = 0
    var level = Level.low
    var isExpanded = false
    var revision = 1
    var height = Level.low
    enum Level: String, Codable, CaseIterable { case low, middle, high }
    enum CodingKeys: String, CodingKey {
      case isActive = "active"
      case quantity = "count"
      case level
    }
  }

  @Test("E3 a property that is in no member is refused, though a made-up member may have its value")
  func unstored() throws {
    #expect(path(\Holder<Unstored>.value.isActive == true) == ["value", "active"])
    #expect(path(\Holder<Unstored>.value.quantity == 1) == ["value", "count"])
    #expect(path(\Holder<Unstored>.value.level == .low) == ["value", "level"])
    for error in [
      refusal(\Holder<Unstored>.value.isExpanded == true), refusal(\Holder<Unstored>.value.revision == 1),
      refusal(\Holder<Unstored>.value.height == .low),
    ] {
      #expect(error?.code == .unknownField)
    }
  }

  private struct Rated: Codable {
    var title = ""
    var stars = 1
    var only = Only.one
    enum Only: String, Codable, CaseIterable { case one }
    enum CodingKeys: String, CodingKey {
      case title = "t"
      case stars = "s"
      case only = "o"
    }
    init() {}
    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      title = try members.decode(String.self, forKey: .title)
      stars = try members.decode(Int.self, forKey: .stars)
      only = try members.decode(Only.self, forKey: .only)
      guard 1...2 ~= stars else { throw CocoaError(.coderInvalidValue) }
    }
  }

  private struct Limited: Codable {
    var title = ""
    var year = 0
    var stars = 1
    enum CodingKeys: String, CodingKey {
      case title, year
      case stars = "s"
    }
    init() {}
    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      title = try members.decode(String.self, forKey: .title)
      year = try members.decode(Int.self, forKey: .year)
      stars = min(5, try members.decode(Int.self, forKey: .stars))
    }
  }

  @Test("a type that takes few numbers is followed, and a property of one value, without a name, is refused")
  func restricted() throws {
    #expect(path(\Holder<Rated>.value.title == "x") == ["value", "t"])
    #expect(path(\Holder<Rated>.value.stars == 2) == ["value", "s"])
    #expect(path(\Holder<Limited>.value.stars == 2) == ["value", "s"])
    let error = try #require(refusal(\Holder<Rated>.value.only == .one))
    #expect(error.code == .unknownField && error.message.contains("Only"), "\(error)")
  }

  private enum Kind: String, Codable { case small, large }

  private struct Typed: Codable {
    var kind = Kind.small
    var city = ""
    var renamed = 0
    enum CodingKeys: String, CodingKey {
      case kind, city
      case renamed = "other name"
    }
  }

  @Test("a type that rejects made-up values is followed where its coding keys have the property's name")
  func unsampled() throws {
    #expect(path(\Holder<Typed>.maybe?.city == "x") == ["maybe", "city"])
    #expect(path(\Holder<Typed>.maybe?.kind == .large) == ["maybe", "kind"])
    let error = try #require(refusal(\Holder<Typed>.maybe?.renamed == 1))
    #expect(error.code == .unknownField && error.message.contains("renamed"), "\(error)")
  }

  /// A value whose JSON is text.
  private struct Clock: Codable {
    var minutes = 0
    var label = ""
    enum CodingKeys: CodingKey { case minutes, label }
    init() {}
    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      minutes = Int(try members.decode(String.self, forKey: .minutes)) ?? 0
      label = try members.decode(String.self, forKey: .label)
    }
    func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode("\(minutes)", forKey: .minutes)
      try members.encode(label, forKey: .label)
    }
  }

  @Test("a property whose JSON is not its own value is refused")
  func converted() throws {
    #expect(path(\Holder<Clock>.value.label == "x") == ["value", "label"])
    let error = try #require(refusal(\Holder<Clock>.value.minutes == 1))
    #expect(error.code == .unknownField && error.message.contains("minutes"), "\(error)")
  }

  private struct Tree: Codable {
    var name = ""
    var leaf: Leaf?
    var children: [Tree] = []
    var size: Int { children.count }
  }

  private final class Leaf: Codable, Sendable {
    let color: String?
    let id: UUID
    init(color: String?, id: UUID) { (self.color, self.id) = (color, id) }
  }

  @Test(
    "values that contain their own kind, and classes, are followed; computed properties and elements are refused"
  )
  func nested() throws {
    #expect(path(\Holder<Tree>.value.leaf?.color == "x") == ["value", "leaf", "color"])
    #expect(path(\Holder<Tree>.maybe?.leaf?.id == UUID()) == ["maybe", "leaf", "id"])
    #expect(path(.contains(\Holder<[Int]>.value, 1)) == ["value"])
    for error in [
      refusal(\Holder<Tree>.value.size == 1), refusal(\Holder<Tree>.value.children.count == 1),
      refusal(\Holder<Tree>.value.children[0].name == "x"), refusal(\Holder<Tree>.changes == 1),
    ] {
      let error = try #require(error)
      #expect(error.code == .unknownField && !error.message.contains("0x"), "\(error)")
    }
  }

  @Test("conditions on parts survive encoding")
  func encoding() throws {
    let predicate: PersistentPredicate<Holder<Tree>> =
      \.value.name == "x" && .contains(\.maybe?.name, "y", caseInsensitive: true)
      && !(\.maybe?.leaf?.color > "a")
    let decoded = try JSONDecoder().decode(
      PersistentPredicate<Holder<Tree>>.self, from: JSONEncoder().encode(predicate))
    #expect(decoded == predicate)
  }

  @Test("#Predicate reaches into documents and their arrays")
  func foundation() throws {
    struct Place: Codable, Sendable {
      var city = ""
      var tags: [String] = []
    }
    let repository = Repository(MemoryContext())
    try repository.save(contentsOf: [
      Holder(1, Place(city: "Berlin", tags: ["new"])), Holder(2, Place(city: "Bern")),
    ])
    func ids(_ predicate: Predicate<Holder<Place>>) throws -> [Int] {
      try repository.filter(Holder<Place>.self, where: predicate).result().map(\.id)
    }
    #expect(try ids(#Predicate { $0.value.city == "Bern" }) == [2])
    #expect(try ids(#Predicate { $0.value.city.starts(with: "Ber") && $0.id < 2 }) == [1])
    #expect(try ids(#Predicate { $0.value.tags.contains("new") }) == [1])
  }
}
