import PersistenceDriver

@testable import PersistenceJSON
@testable import PersistenceKeyValue

extension FuzzTarget {
  /// Catalogs: by the first byte, that of a JSON directory, or a model's record in a byte store, with its checksum or
  /// without.
  static let catalog = FuzzTarget(name: "catalog", seeds: Catalogs.seeds) { bytes in
    guard let choice = bytes.first else { return }
    let content = [UInt8](bytes.content)
    switch choice % 3 {
    case 0: try Catalogs.readModel(content)
    case 1: try Catalogs.readModel(Catalogs.sealed(content))
    default: try Catalogs.readFile(content)
    }
  }
}

private enum Catalogs {
  static func sealed(_ values: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: PackedRow.checksum(of: values).littleEndian) { Array($0) } + values
  }

  static func readModel(_ record: [UInt8]) throws {
    func read(_ record: [UInt8]) throws -> StoredModel {
      try record.withUnsafeBytes { try StoredModel(number: 258, encoded: $0) }
    }
    let name = try accepted(PersistenceError.self) {
      try record.withUnsafeBytes { try StoredModel.name(encoded: $0) }
    }
    guard let model = try accepted(PersistenceError.self, { try read(record) }) else { return }
    try require(name.map { StoredName($0) } == StoredName(model.schema.name), "a model has two names")
    let written = try model.encoded()
    let again = try read(written)
    try require(
      again.schema == model.schema && again.indexing == model.indexing, "a model changes when it is written")
    try require(try again.encoded() == written, "the record of a model is not canonical")
    let binding = ModelBinding(model, declared: model.schema)
    try require(
      model.unbuiltIndexes.count + binding.readable.count == model.schema.indexes.count, "an index is lost")
    let row = RowBuffer(count: binding.layout.count)
    for revision in [1, 2, UInt16(truncatingIfNeeded: binding.layout.head >> 16)] {
      var bytes = [UInt8](repeating: 0, count: 64)
      bytes[0] = PackedRow.format
      bytes[2] = UInt8(truncatingIfNeeded: revision)
      _ = try accepted(PersistenceError.self) {
        try bytes.withUnsafeBytes { try binding.layout.fill(row, from: $0) }
      }
    }
  }

  static func readFile(_ text: [UInt8]) throws {
    guard let catalog = try accepted(PersistenceError.self, { try PersistenceJSON.Catalog(text: text) })
    else { return }
    let again = try PersistenceJSON.Catalog(text: try catalog.text())
    try require(again.schemas == catalog.schemas, "a catalog changes when it is written")
    for schema in catalog.schemas {
      guard let model = try catalog.model(of: schema, location: "here") else {
        throw FuzzFailure(description: "a model of the catalog is missing")
      }
      _ = RecordLayout(schema, model.past)
    }
  }

  @Sendable static func seeds() throws -> [[UInt8]] {
    let schema = try FuzzModels.everyKind()
    var model = StoredModel(number: 1, schema: schema)
    var models = [model, StoredModel(number: 1, schema: try FuzzModels.pair(), indexing: .begun(3))]
    let earlier = RowRevision(
      fields: [RowRevision.Field(kind: .int64, isOptional: false)],
      sources: schema.fields.map { $0.name == "id" ? .field(0) : .fill(.null) })
    for recordsNumber in [nil, 5] as [UInt16?] {
      model.evolution = ModelEvolution(
        revision: 2, earlier: [earlier], indexNumbers: [4, 0, 2], waiting: [2], recordsNumber: recordsNumber)
      models.append(model)
    }
    let records = try models.map { try $0.encoded() }
    var catalog = PersistenceJSON.Catalog()
    _ = try catalog.define(schema, location: "here")
    _ = try catalog.define(try FuzzModels.pair(), location: "here")
    let changed = Array(
      """
      {"format":"persistence-json","version":2,"models":[{"folder":"a","schema":{"name":"A","fields":[{"name":"id",\
      "kind":"int64","isOptional":false},{"name":"b","kind":"double","isOptional":false}],"key":["id"],"indexes":[]},\
      "past":{"fields":[{"name":"b","names":["c","b"],"fill":{"double":1.5}}],"forms":[["id","c"]]}}]}
      """.utf8)
    return records.map { [0] + $0 } + records.map { [1] + $0.dropFirst(4) } + [
      [2] + (try catalog.text()), [2] + changed,
    ]
  }
}
