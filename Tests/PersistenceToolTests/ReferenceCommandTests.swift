import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQLite
import PersistenceTool
import Testing

@Suite("Commands on stores with references")
struct ReferenceCommandTests {
  private struct House: PersistentRecord {
    var id: Int
    var name: String

    static let schema = RecordSchema<House>(
      "House", fields: [.field("id", \.id), .field("name", \.name)], key: [\.id])
    var primaryKey: Int { id }

    init(_ id: Int, _ name: String) { (self.id, self.name) = (id, name) }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      name = try row.decode(at: 1)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(name, at: 1)
    }
  }

  private struct Room: PersistentRecord {
    var id: Int
    var house: Reference<House>

    static let schema = RecordSchema<Room>(
      "Room", fields: [.field("id", \.id), .field("house", \.house, onDelete: .cascade)], key: [\.id])
    var primaryKey: Int { id }

    init(_ id: Int, _ house: Int) { (self.id, self.house) = (id, Reference(house)) }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      house = try row.decode(at: 1)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(house, at: 1)
    }
  }

  private func filled() throws -> MemoryContext {
    let store = MemoryContext()
    let repository = Repository(store)
    try repository.save(contentsOf: [House(1, "Usher"), House(2, "Elm"), House(3, "empty")])
    try repository.save(contentsOf: [Room(10, 1), Room(11, 1), Room(12, 2)])
    return store
  }

  @Test("L5 --where asks through references, in both directions")
  func conditions() throws {
    let tool = ToolHarness.holding(try filled())
    func ids(_ model: String, _ condition: String) -> String {
      let run = tool("query", "held:", model, "--where", condition, "--fields", "id", "--format", "csv")
      return run.code == 0
        ? run.output.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ") : run.messages
    }
    #expect(ids("Room", "has(house, name = 'Usher')") == "10 11")
    #expect(ids("Room", "not has(house, name = 'Usher') and has(house)") == "12")
    #expect(ids("House", "hasany(Room, house, id > 11)") == "2")
    #expect(ids("House", "not HasAny(Room, house)") == "3")
    #expect(ids("Room", "has(house, hasany(Room, house, id = 10) or name = 'Elm')") == "10 11 12")
    #expect(ids("Room", "has(id)").contains("“id” of Room is no reference"))
    #expect(ids("House", "hasany(Room, id)").contains("“id” of Room is no reference to House"))
    #expect(ids("House", "hasany(Garden, house)").contains("the store does not contain this model"))
    #expect(ids("Room", "has(house, title = 'x')").contains("House has no field"))
    let plan = tool("explain", "held:", "Room", "--where", "has(house, name = 'Elm')")
    #expect(plan.code == 0, "\(plan)")
  }

  @Test("L1 L2 migrate keeps references, inspect shows them, import and verify check them")
  func stores() throws {
    let folder = try TemporaryFolder()
    let store = try filled()
    let tool = ToolHarness.holding(store)
    let url = "sqlite:" + folder("copy.sqlite")
    let copied = tool("migrate", "held:", url, "--progress", "none")
    #expect(copied.code == 0, "\(copied)")
    let shown = tool("inspect", url)
    #expect(shown.output.contains("house refers to House, on delete cascade"), "\(shown)")
    #expect(tool("verify", url).code == 0)
    let rooms = try folder.file("rooms.json", #"[{"id": 20, "house": 2}, {"id": 21, "house": 9}]"#)
    let imported = tool("import", rooms, url, "--model", "Room", "--key", "id")
    #expect(imported.code != 0 && imported.messages.contains("House 9"), "\(imported)")
    let copy = try Repository(opening: url, engines: [.sqlite])
    #expect(try copy.count(Room.self) == 3)
    try copy.delete(House.self, id: 1)
    #expect(try copy.count(Room.self) == 1)
    try copy.close()
    // Only a program that uses the driver directly can leave a reference without its record.
    try store.transaction { _ = try $0.delete(RecordKey([.integer(2)]), in: House.schema.model) }
    let found = tool("verify", "held:")
    #expect(
      found.code == 1 && found.output.contains("dangling: Room 12: “house” refers to House 2"), "\(found)")
    let broken = tool("migrate", "held:", "sqlite:" + folder("broken.sqlite"), "--progress", "none")
    #expect(broken.code != 0 && broken.messages.contains("House 2"), "\(broken)")
    let part = tool(
      "migrate", "held:", "sqlite:" + folder("part.sqlite"), "--model", "Room", "--progress", "none")
    #expect(part.code == 0, "\(part)")
  }
}
