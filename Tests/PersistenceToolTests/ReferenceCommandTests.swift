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
    #expect(ids("Room", "has(id)").contains("“id” of Room is not a reference"))
    #expect(ids("House", "hasany(Room, id)").contains("“id” of Room is not a reference to House"))
    #expect(ids("House", "hasany(Garden, house)").contains("the store does not contain this model"))
    #expect(ids("Room", "has(house, title = 'x')").contains("House has no field"))
    let plan = tool("explain", "held:", "Room", "--where", "has(house, name = 'Elm')")
    #expect(
      plan.code == 0 && plan.output.hasPrefix("has(house: House, name == ?): 1 key first ("), "\(plan)")
    let sorted = tool(
      "query", "held:", "Room", "--sort", "-house.name,id", "--fields", "id", "--format", "csv", "--plan")
    #expect(
      sorted.output.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ") == "10 11 12",
      "\(sorted)")
    #expect(sorted.messages.contains("house.name: 2 keys first"), "\(sorted)")
    #expect(tool("query", "held:", "Room", "--sort", "house.height").messages.contains("height"))
  }

  @Test("L7 --include prints the records to which references lead")
  func inclusions() throws {
    let store = try filled()
    let tool = ToolHarness.holding(store)
    let rows = tool("query", "held:", "Room", "--include", "house", "--fields", "id", "--format", "csv")
    #expect(
      rows.output.split(whereSeparator: \.isNewline).map(String.init) == [
        "id,house.id,house.name", "10,1,Usher", "11,1,Usher", "12,2,Elm",
      ], "\(rows)")
    let json = tool("query", "held:", "Room", "--include", "house", "--limit", "1", "--format", "json")
    #expect(json.output.contains(#"{"id":10,"house":1,"house.id":1,"house.name":"Usher"}"#), "\(json)")
    let wrong = tool("query", "held:", "Room", "--include", "house.name")
    #expect(wrong.code != 0 && wrong.messages.contains("“name” is not a reference of House"), "\(wrong)")
    // A reference without its record adds nulls, so that a damaged store can be looked at.
    try store.transaction { _ = try $0.delete(RecordKey([.integer(2)]), in: House.schema.model) }
    let damaged = tool("query", "held:", "Room", "--include", "house", "--fields", "id", "--format", "csv")
    #expect(damaged.output.contains("12,,"), "\(damaged)")
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
    // Damaged records that refer to others hide no other finding.
    let files = folder("files")
    #expect(tool("migrate", "held:", "json:" + files, "--progress", "none").code == 0)
    for record in ["Room/10", "House/1"] {
      try Data("{".utf8).write(to: URL(fileURLWithPath: "\(files)/\(record).json"))
    }
    let verified = tool("verify", "json:" + files)
    #expect(verified.code == 1, "\(verified)")
    #expect(
      verified.output.contains("Room/10.json") && verified.output.contains("House/1.json"), "\(verified)")
    let rooms = try folder.file("rooms.json", #"[{"id": 20, "house": 2}, {"id": 21, "house": 9}]"#)
    let imported = tool("import", rooms, url, "--model", "Room", "--key", "id")
    #expect(imported.code != 0 && (imported.messages + imported.output).contains("House 9"), "\(imported)")
    let copy = try Repository(opening: url, engines: [.sqlite])
    #expect(
      try copy.fetch(Room.self).map(\.id) == [10, 11, 12, 20],
      "only the record with a broken reference is rejected")
    try copy.delete(Room.self, id: 20)
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

  @Test(
    "L1 import stores records that refer to later ones, in circles too, and rejects those that lead nowhere")
  func importing() throws {
    let folder = try TemporaryFolder()
    let url = "sqlite:" + folder("nodes.sqlite")
    let store = try Repository(opening: url, engines: [.sqlite])
    try store.save(Node(1000, nil))
    try store.close()
    // Each node refers to the next one, 60 and 61 to each other, 70 to nothing and 71 to 70.
    var nodes = (1...40).map { #"{"id": \#($0), "next": \#($0 + 1)}"# } + [#"{"id": 41, "next": null}"#]
    nodes += [60, 61].map { #"{"id": \#($0), "next": \#(121 - $0)}"# }
    nodes += [#"{"id": 70, "next": 99}"#, #"{"id": 71, "next": 70}"#, #"{"id": 80, "next": 1000}"#]
    let file = try folder.file("nodes.ndjson", nodes.joined(separator: "\n"))
    let tool = ToolHarness()
    let run = tool("import", file, url, "--model", "Node", "--batch", "1")
    #expect(run.code != 0 && run.messages.contains("Node 99") && run.messages.contains("Node 70"), "\(run)")
    #expect(tool("verify", url).code == 0)
    let read = try Repository(opening: url, engines: [.sqlite])
    #expect(try read.fetch(Node.self).map(\.id) == Array(1...41) + [60, 61, 80, 1000])
    try read.close()
  }

  @Test(
    "L1 import rejects the records that refer to a rejected one, and stores the others",
    arguments: [1, 3, 100])
  func rejectedTargets(batch: Int) throws {
    let folder = try TemporaryFolder()
    let url = "sqlite:" + folder("nodes.sqlite")
    let store = try Repository(opening: url, engines: [.sqlite])
    try store.save(Seat(1000, "taken", nil))
    try store.close()
    // Record 2 is refused; 3 and 1 refer to it, and 4 to 3. Record 6 repeats the label of 4, which is never stored.
    let seats: [(Int, String, Int?)] = [
      (1, "a", 2), (2, "taken", nil), (3, "c", 2), (4, "d", 3), (5, "e", 1000), (6, "d", nil), (7, "g", 6),
    ]
    let lines = seats.map { id, label, next in
      #"{"id": \#(id), "label": "\#(label)", "next": \#(next.map(String.init) ?? "null")}"#
    }
    let file = try folder.file("seats.ndjson", lines.joined(separator: "\n"))
    let tool = ToolHarness()
    let run = tool("import", file, url, "--model", "Seat", "--batch", "\(batch)", "--format", "json")
    #expect(run.code == 2, "\(run)")
    let report = run.output + run.messages
    #expect(report.contains("Seat 2") && report.contains("Seat 3") && report.contains("taken"), "\(run)")
    #expect(tool("verify", url).code == 0)
    let read = try Repository(opening: url, engines: [.sqlite])
    #expect(try read.fetch(Seat.self).map(\.id) == [5, 6, 7, 1000])
    try read.close()
  }

  private struct Seat: PersistentRecord {
    var id: Int
    var label: String
    var next: Reference<Seat>?

    static let schema = RecordSchema<Seat>(
      "Seat", fields: [.field("id", \.id), .field("label", \.label), .field("next", \.next)], key: [\.id],
      indexes: [RecordIndex([\Seat.label], isUnique: true)])
    var primaryKey: Int { id }

    init(_ id: Int, _ label: String, _ next: Int?) {
      (self.id, self.label, self.next) = (id, label, next.map { Reference($0) })
    }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      label = try row.decode(at: 1)
      next = try row.decode(at: 2)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(label, at: 1)
      row.encode(next, at: 2)
    }
  }

  private struct Node: PersistentRecord {
    var id: Int
    var next: Reference<Node>?

    static let schema = RecordSchema<Node>(
      "Node", fields: [.field("id", \.id), .field("next", \.next)], key: [\.id])
    var primaryKey: Int { id }

    init(_ id: Int, _ next: Int?) { (self.id, self.next) = (id, next.map { Reference($0) }) }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      next = try row.decode(at: 1)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(next, at: 1)
    }
  }
}
