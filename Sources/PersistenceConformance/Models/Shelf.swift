import PersistenceCore

/// The declarations of one model in the versions of an app.
///
/// Every version but the last one below has the model name `Shelf`.
enum Shelf {
  /// The first version: no words about the past.
  typealias First = ShelfRecord<FirstForm>
  /// `title` has become `name`.
  typealias Renamed = ShelfRecord<RenamedForm>
  /// A second index.
  typealias Indexed = ShelfRecord<IndexedForm>
  /// An index with unique titles.
  typealias Distinct = ShelfRecord<DistinctForm>
  /// No index.
  typealias Plain = ShelfRecord<PlainForm>
  /// The model has become `Rack`.
  typealias Rack = ShelfRecord<RackForm>

  enum FirstForm: ShelfForm {}
  enum RenamedForm: ShelfForm {
    static let title = "name"
    static let formerTitles = ["title"]
  }
  enum IndexedForm: ShelfForm {
    static func indexes() -> [RecordIndex<Indexed>] { [RecordIndex(\.title), RecordIndex(\.owner, \.price)] }
  }
  enum DistinctForm: ShelfForm {
    static func indexes() -> [RecordIndex<Distinct>] {
      [RecordIndex(\.title), RecordIndex(\.owner, isUnique: true)]
    }
  }
  enum PlainForm: ShelfForm {
    static func indexes() -> [RecordIndex<Plain>] { [] }
  }
  enum RackForm: ShelfForm {
    static let name = "Rack"
    static let formerNames = ["Shelf"]
  }
}

/// The names and indexes of a version that has the properties of the first one.
protocol ShelfForm: Sendable {
  static var name: String { get }
  static var formerNames: [String] { get }
  /// The stored name of the title.
  static var title: String { get }
  static var formerTitles: [String] { get }
  static func indexes() -> [RecordIndex<ShelfRecord<Self>>]
}

extension ShelfForm {
  static var name: String { "Shelf" }
  static var formerNames: [String] { [] }
  static var title: String { "title" }
  static var formerTitles: [String] { [] }
  static func indexes() -> [RecordIndex<ShelfRecord<Self>>] { [RecordIndex(\.title)] }
}

/// A version with the properties of the first one.
struct ShelfRecord<Form: ShelfForm>: Hashable {
  var id: Int
  var title: String
  var pages: Int32
  var price: Float
  var owner: String?
}

extension ShelfRecord: PersistentRecord {
  static var schema: RecordSchema<ShelfRecord> {
    .shared(for: ShelfRecord.self) {
      RecordSchema(
        Form.name, was: Form.formerNames,
        fields: [
          .field("id", \.id), .field(Form.title, \.title, was: Form.formerTitles), .field("pages", \.pages),
          .field("price", \.price), .field("owner", \.owner),
        ], key: [\.id], indexes: Form.indexes())
    }
  }

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    pages = try row.decode(at: 2)
    price = try row.decode(at: 3)
    owner = try row.decode(at: 4)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(pages, at: 2)
    row.encode(price, at: 3)
    row.encode(owner, at: 4)
  }
}

extension ShelfRecord {
  /// The record with a number; a third of the records have no owner, and titles occur several times.
  static func sample(_ id: Int) -> ShelfRecord {
    ShelfRecord(
      id: id, title: "t\(id % 7)", pages: Int32(id) * 1000 - 9, price: Float(id) / 4,
      owner: id % 3 == 0 ? nil : "o\(id)")
  }

  static func samples(_ count: Int) -> [ShelfRecord] { (1...count).map(sample) }

  /// The same record as another version declares it.
  init<Other>(_ other: ShelfRecord<Other>) {
    self.init(id: other.id, title: other.title, pages: other.pages, price: other.price, owner: other.owner)
  }
}

extension Shelf {
  /// The first version and two fields: an optional one, and one with a fill.
  struct Second: Hashable {
    var id: Int
    var title: String
    var pages: Int32
    var price: Float
    var owner: String?
    var note: String?
    var rating: Int
  }
}

extension Shelf.Second: PersistentRecord {
  static let schema = RecordSchema<Shelf.Second>(
    "Shelf",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("pages", \.pages), .field("price", \.price),
      .field("owner", \.owner), .field("note", \.note), .field("rating", \.rating, fill: 3),
    ], key: [\.id], indexes: [RecordIndex(\.title)])

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    pages = try row.decode(at: 2)
    price = try row.decode(at: 3)
    owner = try row.decode(at: 4)
    note = try row.decode(at: 5)
    rating = try row.decode(at: 6)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(pages, at: 2)
    row.encode(price, at: 3)
    row.encode(owner, at: 4)
    row.encode(note, at: 5)
    row.encode(rating, at: 6)
  }
}

extension Shelf.Second {
  /// A record of the first version; without other values, as it is read.
  init(_ first: Shelf.First, note: String? = nil, rating: Int = 3) {
    self.init(
      id: first.id, title: first.title, pages: first.pages, price: first.price, owner: first.owner,
      note: note,
      rating: rating)
  }

  /// The record as the first version reads it.
  var first: Shelf.First { Shelf.First(id: id, title: title, pages: pages, price: price, owner: owner) }
}
