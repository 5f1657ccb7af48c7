import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Testing

@testable import PersistenceCore

/// A record whose schema alone matters.
private protocol SchemaOnly: PersistentRecord where PrimaryKey == Int {
  var id: Int { get }
}

extension SchemaOnly {
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws { throw PersistenceError.invalidRequest("no test reads this record") }
  func encode(into row: RowBuffer) throws {}
}

private struct FirstMovie: SchemaOnly {
  var id: Int
  var cost: Double
  var nick: String?
  static let schema = RecordSchema<FirstMovie>(
    "Movie", fields: [.field("id", \.id), .field("cost", \.cost), .field("nick", \.nick)], key: [\.id],
    indexes: [RecordIndex(\.cost)])
}

private struct Draft: SchemaOnly {
  var id: Int
  static let schema = RecordSchema<Draft>("Draft", fields: [.field("id", \.id)], key: [\.id])
}

private struct Film: SchemaOnly {
  var id: Int
  var budget: Double
  var rating: String
  static let schema = RecordSchema<Film>(
    "Film", was: ["Movie"],
    fields: [
      .field("id", \.id), .field("budget", \.budget, was: ["cost"]), .field("rating", \.rating, fill: "PG"),
    ], key: [\.id])
}

/// ``Film`` with another fill, and `budget` as an integer of the same name.
private struct WrongFilm: SchemaOnly {
  var id: Int
  var budget: Int
  var rating: String
  static let schema = RecordSchema<WrongFilm>(
    "Film", was: ["Movie"],
    fields: [
      .field("id", \.id), .field("budget", \.budget, was: ["cost"]), .field("rating", \.rating, fill: "R"),
    ], key: [\.id])
}

private struct Unstable: SchemaOnly {
  var id: Int
  var token: UUID
  static var schema: RecordSchema<Unstable> {
    RecordSchema(
      "Unstable", fields: [.field("id", \.id), .field("token", \.token, fill: UUID())], key: [\.id])
  }
}

private enum First: StoreSchema {
  static let models: [any PersistentRecord.Type] = [FirstMovie.self, Draft.self]
}

private enum Second: StoreSchema {
  static let models: [any PersistentRecord.Type] = [Film.self]
  static let evolution: [EvolutionRule] = [
    .remove("nick", from: "Film"), .remove(model: "Draft"), .remove(index: "budget", of: "Film"),
  ]
}

private enum Silent: StoreSchema {
  static let models: [any PersistentRecord.Type] = [Film.self]
}

private enum Wrong: StoreSchema {
  static let models: [any PersistentRecord.Type] = [WrongFilm.self]
  static let evolution = Second.evolution
}

private enum Nothing: StoreSchema {
  static let models: [any PersistentRecord.Type] = []
  static let evolution: [EvolutionRule] = [.remove(model: "Film"), .remove(model: "Draft")]
}

/// A version with a field that ``Second`` removed.
private struct NickFilm: SchemaOnly {
  var id: Int
  var budget: Double
  var rating: String
  var nick: String?
  static let schema = RecordSchema<NickFilm>(
    "Film", was: ["Movie"],
    fields: [
      .field("id", \.id), .field("budget", \.budget, was: ["cost"]), .field("rating", \.rating, fill: "PG"),
      .field("nick", \.nick),
    ], key: [\.id])
}

private enum Redeclaring: StoreSchema {
  static let models: [any PersistentRecord.Type] = [NickFilm.self, Draft.self]
  static let evolution: [EvolutionRule] = [.remove(index: "budget", of: "Film")]
}

private enum Restoring: StoreSchema {
  static let models = Redeclaring.models
  static let evolution = Redeclaring.evolution + [.restore("nick", from: "Film"), .restore(model: "Draft")]
}

/// A version whose nick is required, and unique.
private struct UniqueFilm: SchemaOnly {
  var id: Int
  var nick: String
  var code: String
  static let schema = RecordSchema<UniqueFilm>(
    "Movie", fields: [.field("id", \.id), .field("nick", \.nick), .field("code", \.code, fill: "?")],
    key: [\.id], indexes: [RecordIndex(\.nick, isUnique: true), RecordIndex(\.code, isUnique: true)])
}

private enum Colliding: StoreSchema {
  static let models: [any PersistentRecord.Type] = [UniqueFilm.self, Draft.self]
  static let evolution: [EvolutionRule] = [
    .fill(\UniqueFilm.nick, with: ""), .remove("cost", from: "Movie"),
  ]
}

private enum Changing: StoreSchema {
  static let models: [any PersistentRecord.Type] = [Unstable.self]
}

@Suite("History of schemas")
struct SchemaHistoryTests {
  private final class Folder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("schemas-\(UUID().uuidString)")
    deinit { try? FileManager.default.removeItem(at: url) }
    func text(_ name: String) throws -> String {
      try String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)
    }
  }

  private let folder = Folder()

  private func history(_ schema: any StoreSchema.Type, isRecording: Bool = false) -> SchemaHistory {
    SchemaHistory(of: schema, in: folder.url.path, isRecording: isRecording)
  }

  /// The message of the check, which records first, so that only releases matter.
  private func message(_ schema: any StoreSchema.Type) throws -> String {
    let error = #expect(throws: PersistenceError.self) { try history(schema, isRecording: true).check() }
    #expect(error?.code == .schemaMismatch)
    return error?.message ?? ""
  }

  @Test("A recorded history is what the code declares, in a deterministic text")
  func recording() throws {
    let missing = #expect(throws: PersistenceError.self) { try history(First.self).check() }
    #expect(missing?.message.contains("PERSISTENCE_SCHEMAS=record") == true)
    try history(First.self, isRecording: true).check()
    try history(First.self).check()
    let text = try folder.text("current.json")
    #expect(text.contains("\"kind\" : \"string?\""))
    #expect(!text.contains("version"))
    try history(First.self).record(as: "1.0.0")
    #expect(try folder.text("released/1.0.0.json") == text)
    #expect(try folder.text("current.json") == text)
    try history(First.self).record(as: "1.0.0")
    let path = folder.url.appendingPathComponent("current.json").path
    let document = try SchemaDocument(contentsOf: path)
    #expect(try document.text == text)
    #expect(document.models.map(\.name) == ["Draft", "Movie"])
  }

  @Test("Code that differs from current.json is found, with each difference")
  func currentDiffers() throws {
    try history(First.self).record(as: nil)
    let error = #expect(throws: PersistenceError.self) { try history(Second.self).check() }
    let message = error?.message ?? ""
    #expect(message.contains("current.json is not what the code declares"), "\(message)")
    #expect(message.contains("* Film.cost: double → budget: double, formerly cost"), "\(message)")
    #expect(message.contains("- Film.nick: string?"), "\(message)")
    #expect(message.contains("+ Film.rating: string, fill 'PG'"), "\(message)")
  }

  @Test("The code opens the stores of a release and says what happened to everything in it")
  func complete() throws {
    try history(First.self).record(as: "1.0.0")
    try history(Second.self, isRecording: true).check()
    try history(Second.self).record(as: "1.10.0")
    try history(Second.self).check()
  }

  @Test("A property or model that is gone without a rule is found, with the rule that it needs")
  func gone() throws {
    try history(First.self).record(as: "1.0.0")
    let message = try message(Silent.self)
    for word in [
      ".remove(\"nick\", from: \"Film\")", ".remove(model: \"Draft\")",
      ".remove(index: \"budget\", of: \"Film\")", "(release 1.0.0)",
    ] {
      #expect(message.contains(word), "\(message)")
    }
  }

  @Test("S8 code that declares a removed field and model passes if it restores them, and only then")
  func restoring() throws {
    try history(First.self).record(as: "1.0.0")
    try history(Second.self).record(as: "1.1.0")
    let message = try message(Redeclaring.self)
    for word in [".restore(\"nick\", from: \"Film\")", ".restore(model: \"Draft\")"] {
      #expect(message.contains(word), "\(message)")
    }
    try history(Restoring.self, isRecording: true).check()
    try history(Restoring.self).record(as: "1.2.0")
    try history(Restoring.self).check()
    let text = try folder.text("released/1.2.0.json")
    let document = try JSONDecoder().decode(SchemaDocument.self, from: Data(text.utf8))
    #expect(try document.text == text && document.model("Film")?.restoredFields == ["nick"])
  }

  @Test("One value for all records in a unique field is found")
  func uniqueFill() throws {
    try history(First.self).record(as: "1.0.0")
    let message = try message(Colliding.self)
    for field in ["Movie.nick: unique", "Movie.code: unique"] {
      #expect(message.contains(field), "\(message)")
    }
  }

  @Test("A removal lacks the name that a release had")
  func formerName() throws {
    try history(First.self).record(as: "1.0.0")
    try history(Second.self).record(as: "1.1.0")
    let message = try message(Nothing.self)
    #expect(message.contains(".remove(model: \"Film\", was: \"Movie\")"), "\(message)")
  }

  @Test("Another kind, and another fill of a released field, are found")
  func noWay() throws {
    try history(First.self).record(as: "1.0.0")
    try history(Second.self).record(as: "1.1.0")
    let error = #expect(throws: PersistenceError.self) {
      try history(Wrong.self, isRecording: true).check()
    }
    let message = error?.message ?? ""
    #expect(message.contains("stored as double, declared as int64"), "\(message)")
    #expect(message.contains("Film.rating: the fill was 'PG' and is 'R'"), "\(message)")
    #expect(error?.differences.isEmpty == false)
    #expect(throws: PersistenceError.self) { try history(Wrong.self).record(as: "1.2.0") }
    #expect(throws: (any Error).self) { try folder.text("released/1.2.0.json") }
  }

  @Test("A fill that differs between two evaluations is found")
  func unstableFill() throws {
    let message = try message(Changing.self)
    #expect(message.contains("Unstable.token: the fill has another value at each evaluation"), "\(message)")
  }

  @Test("A release never changes, and its name is a version")
  func releases() throws {
    try history(First.self).record(as: "1.0.0")
    #expect(throws: PersistenceError.self) { try history(Second.self).record(as: "1.0.0") }
    #expect(try folder.text("current.json") == folder.text("released/1.0.0.json"))
    for version in ["", "../1", ".1"] {
      let error = #expect(throws: PersistenceError.self) { try history(First.self).record(as: version) }
      #expect(error?.code == .invalidRequest)
    }
  }

  @Test("A relative folder is in the package")
  func relative() throws {
    let name = "no-such-folder-\(UUID().uuidString)"
    let error = #expect(throws: PersistenceError.self) { try SchemaHistory(of: First.self, in: name).check() }
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    #expect(error?.message.contains(package.appendingPathComponent(name).path) == true)
  }
}
