import Foundation
import Persistence
import PersistenceDriverSupport
import Testing

@Suite("Schema evolution: the macro declares former names and fills")
struct ModelPastTests {
  @Test("the macro and handwritten code declare the same past")
  func pasts() throws {
    let declared = try PastByMacro.schema.declaration
    #expect(declared.formerNames == ["Movie", "Picture"])
    let fields = Dictionary(
      uniqueKeysWithValues: zip(declared.schema.fields.map(\.name), declared.fields))
    #expect(fields["cost of all"]?.formerNames == ["budget", "price"])
    #expect(fields["cost of all"]?.fill == .double(0))
    for name in ["id", "note", "made", "now", "checked", "score", "stamp"] {
      #expect(fields[name]?.fill == nil, "\(name)")
    }
    #expect(fields["title"]?.fill == .text("a \"b\""))
    #expect(fields["text"]?.fill == .text("a\nb"))
    #expect(fields["year"]?.fill == .integer(-1))
    #expect(fields["votes"]?.fill == .integer(5))
    #expect(fields["level"]?.fill == .integer(1))
    #expect(fields["other"]?.fill == .integer(2))
    #expect(fields["empty"]?.fill == .text("none"))
    #expect(fields["added"]?.fill == Date.distantPast.persistentValue)
    #expect(fields["limit"]?.fill == .integer(7))
    for name in ["tags", "optionalTags", "set"] { #expect(fields[name]?.fill == .document("[]"), "\(name)") }
    for name in ["table", "places"] { #expect(fields[name]?.fill == .document("{}"), "\(name)") }
    #expect(fields["address"]?.fill == .document(#"{"floors":[],"street":"x"}"#))
    #expect(try PastByMacro.schema.model.fields.map(\.description).contains("optionalTags: document?"))
  }

  @Test("a fill of a model nested in another type finds the property's type")
  func nested() throws {
    let fields = try Cinema.Hall.schema.declaration.fields
    #expect(fields.map(\.fill) == [nil, .text("large"), .text("small"), .integer(3), nil])
  }
}

extension Address {
  static let unknown = Address(street: "x")
}

enum Emptiness: String, PersistentValueConvertible { case none, some }

/// A model with every kind of former name and fill.
@Persistent("Film", was: "Movie", "Picture")
struct PastByMacro {
  static let limit = 7
  var id: UUID = UUID()
  @Field("cost of all", was: "budget", "price", fill: 0) var cost: Double
  var title = "a \"b\""
  var text = """
    a
    b
    """
  var year = -1
  var votes: Int64? = 5
  var level: Level = .low
  @Field(fill: Level.high) var other: Level?
  var empty: Emptiness = .none
  @Field(fill: Date.distantPast) var added = Date()
  var limit: Int = Self.limit
  var tags: [String] = []
  var optionalTags: [String]? = []
  @Field(fill: []) let set: Set<Int>
  var table: [String: Int]? = [:]
  @Field(fill: [:]) let places: [String: Int]
  var address: Address? = .unknown
  var note: String? = nil
  var made: Date = Date()
  var now: Date = .now
  var checked: Date? = Date.now
  @Field(fill: nil) var score: Int? = 5
  @Field(was: "time") var stamp: Date
}

enum Cinema {
  enum Size: String, PersistentValueConvertible { case small, large }
  enum Limits { static let seats = 5 }

  @Persistent
  struct Hall {
    static let doors = 3
    @ID var number: Int = 1
    var size: Size = Size.large
    @Field(fill: Size.small) var stage: Size?
    var doors: Int = Self.doors
    var seats: Int = Limits.seats  // the extension cannot find this type, so there is no fill
  }
}
