import Foundation
import PersistenceCore
import PersistenceDriver

/// A schema of a model with which records of the layers were written.
struct LayerSchemaRecord: PersistentRecord {
  var model: String
  var name: String
  var content: Data

  static let schema = RecordSchema<LayerSchemaRecord>(
    reserved: ReservedModel.layerSchemas,
    fields: [.field("model", \.model), .field("name", \.name), .field("content", \.content)],
    key: [\.model, \.name])

  var primaryKey: CoverageRecord.Key { CoverageRecord.Key(model: model, part: name) }

  init(model: String, name: String, content: Data) {
    (self.model, self.name, self.content) = (model, name, content)
  }

  init(from row: borrowing Row) throws {
    (model, name, content) = try row.decodeFields()
  }

  func encode(into row: RowBuffer) throws { row.encodeFields(model, name, content) }
}

/// The schemas of a model that the layers' records refer to.
enum LayerSchemas {
  /// The name of the schema that the layers used last.
  private static let current = "current"

  /// The name under which entries refer to a schema.
  static func name(of schema: ModelSchema) -> String { schema.fingerprint }

  static func schema(
    named name: String, of model: String, in repository: any PersistentRepository
  ) throws -> ModelSchema? {
    try repository.find(LayerSchemaRecord.self, id: CoverageRecord.Key(model: model, part: name))
      .map { try LayerCoding.value(ModelSchema.self, $0.content) }
  }

  static func save(
    _ schema: ModelSchema, as name: String, of model: String, in repository: any PersistentRepository
  )
    throws
  {
    try repository.save(
      LayerSchemaRecord(model: model, name: name, content: try LayerCoding.data(schema)))
  }

  /// The schema that the layers used last; nil if none is recorded.
  static func last(of model: String, in repository: any PersistentRepository) throws -> ModelSchema? {
    try schema(named: current, of: model, in: repository)
  }

  /// Records the schema that the layers use from now on.
  static func use(_ schema: ModelSchema, in repository: any PersistentRepository) throws {
    for name in [current, name(of: schema)] { try save(schema, as: name, of: schema.name, in: repository) }
  }
}

extension ReservedModel {
  /// The schemas that the layers' records were written with.
  static let layerSchemas = "persistence.layers.schemas"
}
