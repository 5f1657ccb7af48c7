import Foundation
import Persistence
import Testing

@Suite("Issue 2: every form of declaration")
struct ModelFormTests {
  let repository: any PersistentRepository = Repository(MemoryContext())

  @Test("O1 a composite key, on a public model")
  func compositeKey() throws {
    let order = UUID()
    let lines = (0..<3).map { PublicLine(order: order, number: $0, amount: $0 * 10, secret: "s\($0)") }
    try repository.save(contentsOf: lines.reversed())
    #expect(try Array(repository.fetch(PublicLine.self)) == lines)
    let key = PublicLine.PrimaryKey(order: order, default: 1)
    #expect(lines[1].primaryKey == key)
    #expect(key.keyValues == [.uuid(order), .integer(1)])
    let found = try #require(try repository.find(PublicLine.self, id: key))
    #expect(found.revealed == "s1")
    #expect(found.changes == 0)
    try repository.write(PublicLine.self, id: key) { $0.add(5) }
    #expect(try repository.find(PublicLine.self, id: key)?.amount == 15)
    #expect(try repository.delete(PublicLine.self, id: key))
    #expect(try repository.count(PublicLine.self) == 2)
    #expect(
      try PublicLine.schema.model.fields.map(\.name)
        == ["order", "default", "amount", "first", "second", "secret"])
  }

  @Test("E6 a nested model with a wrapped key and custom stored names")
  func nested() throws {
    let book = Library.Book(id: BookID(rawValue: .max), title: "t")
    try repository.save(book)
    #expect(try repository.find(Library.Book.self, id: BookID(rawValue: .max)) == book)
    #expect(try Library.Book.schema.model.name == "Library.Book")
    #expect(try Library.Book.schema.model.fields.map(\.name) == ["id", "Der Titel"])
    #expect(try repository.filter(Library.Book.self, where: \.title == "t").count() == 1)
    #expect(try repository.filter(Library.Book.self, where: \.id == BookID(rawValue: 1)).count() == 0)
  }

  @Test("O1 the type of a key may be nested beside the model")
  func nestedKeys() throws {
    let room = Hotel.Room(id: Hotel.RoomID(rawValue: 7))
    try repository.save(room)
    #expect(try repository.find(Hotel.Room.self, id: Hotel.RoomID(rawValue: 7)) == room)
    let stay = Hotel.Stay(room: room.id, day: 2)
    try repository.save(stay)
    let key = Hotel.Stay.PrimaryKey(room: room.id, day: 2)
    #expect(try repository.find(Hotel.Stay.self, id: key) == stay)
    #expect(try repository.delete(Hotel.Stay.self, id: key))
  }

  @Test("two specializations of a generic model are two models")
  func generic() throws {
    try repository.save(Box(id: 1, value: ["a"]))
    try repository.save(Box(id: 1, value: Address(street: "b")))
    #expect(try repository.find(Box<[String]>.self, id: 1)?.value == ["a"])
    #expect(try repository.find(Box<Address>.self, id: 1)?.value?.street == "b")
    #expect(try Box<Address>.schema.model.name == "Box<Address>")
    #expect(try Box<Address>.schema.model.identity == Box<Address>.schema.model.identity)
    #expect(try Box<Address>.schema.model.fields.map(\.description) == ["id: int64", "value: document?"])
    try repository.save(Counter(value: 3))
    #expect(try repository.filter(Counter<Int>.self, where: \.value > 2).first()?.id == "counter")
    #expect(try Counter<Int>.schema.model.indexes.map(\.fields) == [["value"], ["value", "id"]])
    #expect(try Counter<Double>.schema.model.fields[1].kind == .double)
  }

  @Test("the type argument distinguishes models in a generic type")
  func nestedInGeneric() throws {
    try repository.save(Shelf<Int>.Item(id: 1))
    #expect(try repository.count(Shelf<String>.Item.self) == 0)
    #expect(try Shelf<Int>.Item.schema.model.name == "Shelf<Int>.Item")
    #expect(try Shelf<Int>.Label.schema.model.name == "Shelf<Int>.Label")
    #expect(try Grid.Cell.schema.model.name == "Grid.Cell")
  }

  @Test("models beside types with the names of the package's types, and in extensions")
  func names() throws {
    let grid = Grid(id: 1, row: Grid.Row(cells: [1]), rows: [Grid.Row(cells: [2])], buffer: nil)
    try repository.save(grid)
    #expect(try repository.find(Grid.self, id: 1) == grid)
    try repository.save(Grid.Cell(id: 2))
    #expect(try repository.find(Grid.Cell.self, id: 2) == Grid.Cell(id: 2))
    #expect(try hiddenRoundTrip(in: repository))
  }

  @Test("E1 a model that supports only some contexts")
  func contexts() throws {
    let error = try #require(throws: PersistenceError.self) { try repository.save(Restricted(id: 1)) }
    #expect(error.code == .incompatibleContext)
    for name in ["Restricted", "MemoryContext", "OtherContext"] { #expect(error.message.contains(name)) }
    let other = try #require(throws: PersistenceError.self) {
      try Restricted.fetch(in: OtherContext(), options: nil)
    }
    #expect(other.code == .incompatibleContext)
  }

  @Test("V1 the first use rejects an unsigned integer behind a type alias")
  func hiddenUnsigned() throws {
    let error = try #require(throws: PersistenceError.self) {
      try repository.save(HiddenUnsigned(id: 1, wide: 2))
    }
    #expect(error.code == .invalidSchema)
    #expect(error.message.contains("do not fit in 64 signed bits"))
  }
}
