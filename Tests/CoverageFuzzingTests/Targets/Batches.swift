import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives

extension FuzzTarget {
  /// Bodies of batches, and by the first byte declarations of models and headers with entity tags.
  static let batches = FuzzTarget(name: "batches", seeds: Batches.seeds) { bytes in
    guard let choice = bytes.first else { return }
    if choice % 3 == 2 {
      for matchesWeakly in [false, true] {
        guard let text = bytes.content.text, let list = EntityTag.List(text, matchesWeakly: matchesWeakly),
          case .tags(let tags) = list, !tags.isEmpty
        else { continue }
        let written = EntityTag.List(tags.map(\.text).joined(separator: ", "), matchesWeakly: matchesWeakly)
        try require(written == list, "a list of entity tags changes when it is written")
      }
      return
    }
    guard let json = try accepted(JSONSyntaxError.self, { try JSONParser.parse(bytes.content) }) else {
      return
    }
    try choice % 3 == 0 ? Batches.readBatch(json) : Batches.readSchema(json)
  }
}

private enum Batches {
  static func readBatch(_ json: JSONValue) throws {
    guard let batch = try accepted(PersistenceError.self, { try WireBatch(json) }) else { return }
    let again = try WireBatch(try JSONParser.parse(JSONText.canonical(batch.json)))
    try require(again.digest == batch.digest && again.id == batch.id, "a batch changes when it is written")
    let schema = try FuzzModels.everyKind()
    for change in batch.changes {
      try readRecord(change.record, schema, by: .strict)
      try readRecord(change.record, schema, by: .lenient)
      guard let key = try accepted(PersistenceError.self, { try RecordJSON.key(change.record, schema) })
      else {
        continue
      }
      let written = try RecordJSON.json(key, schema)
      try require(try RecordJSON.key(written, schema) == key, "a key changes when it is written")
      let path = WirePath.record(key, in: schema)
      guard case .record(_, let texts)? = WirePath(path.text) else {
        throw FuzzFailure(description: "the path of a record names no record")
      }
      try require(try RecordKey(path: texts, in: schema) == key, "a key changes in its path")
    }
  }

  private static func readRecord(_ json: JSONValue, _ schema: ModelSchema, by reader: ValueReader) throws {
    let (row, again) = (RowBuffer(count: schema.fields.count), RowBuffer(count: schema.fields.count))
    let isRecord: Void? = try accepted(PersistenceError.self) {
      try RecordJSON.read(json, schema, into: row, by: reader)
    }
    guard isRecord != nil else { return }
    let line = try row.withRow { try RecordJSON.line($0, schema) }
    let tree = try row.withRow { JSONText.canonical(try ValueWriter.json($0, in: schema)) }
    try require(line == tree, "two writers write a record in two ways")
    try RecordJSON.read(try JSONParser.parse(line), schema, into: again)
    try require(again.hasSameCells(as: row), "a record changes when it is written")
  }

  static func readSchema(_ json: JSONValue) throws {
    guard let schema = try accepted(PersistenceError.self, { try WireSchema(received: json) }) else { return }
    let written = try WireSchema(schema.declaration)
    let again = try WireSchema(received: try JSONParser.parse(JSONText.canonical(written.json)))
    try require(
      again.declaration.schema == schema.declaration.schema
        && again.declaration.fields == schema.declaration.fields
        && again.digest == written.digest, "a declaration changes when it is written")
  }

  @Sendable static func seeds() throws -> [[UInt8]] {
    let schema = try FuzzModels.everyKind()
    var records: [JSONValue] = []
    try FuzzModels.forEachRow { records.append(try ValueWriter.json($0, in: schema)) }
    let tag = EntityTag(ofLine: "x")
    let batch = WireBatch(
      records.map { WireBatch.Change("M", .save, $0) }
        + [.init("M", .update, records[1], ifMatch: tag), .init("M", .delete, ["id": .number("17")])],
      id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
    let declaration = ModelDeclaration(
      schema, formerNames: ["Before"],
      fields: schema.fields.map { field in
        ModelDeclaration.Field(
          formerNames: field.name == "id" ? ["key"] : [], fill: field.name == "string" ? .text("x") : nil)
      })
    return [
      [0] + Array(JSONText.canonical(batch.json).utf8),
      [1] + Array(JSONText.canonical(try WireSchema(declaration).json).utf8),
      [2] + Array("\(tag.text), W/\"weak\"".utf8), [2] + Array("*".utf8),
    ]
  }
}
