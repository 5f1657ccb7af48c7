import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

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

extension Journal {
  /// Adapts the journal to the present declaration, once in each process.
  ///
  /// A region of objects with other fields is not known any more: the layer never received the values of a field that
  /// is new or has another kind, so no region stays. If fields were only removed, or only have other names, only the
  /// regions that mention them go.
  func adoptSchema(by writer: UUID) throws {
    let schema = try Object.schema.model
    try adoptFormerNames(by: writer)
    let last = try LayerSchemas.last(of: model, in: repository)
    guard last != schema else { return }
    if let last { try forgetCoverage(after: last, becoming: schema, by: writer) }
    try LayerSchemas.use(schema, in: repository)
  }

  private func forgetCoverage(
    after last: ModelSchema, becoming schema: ModelSchema, by writer: UUID
  ) throws {
    let isCovered = try StoredDeclaration.fit(Object.self, to: last, in: repository).keepsValues
    guard isCovered else {
      try forgetCoverage()
      _ = try advance(by: writer)
      return
    }
    let fields = Set(
      last.fields.filter { !schema.fields.contains($0) }.map { StoredName($0.name) }
        + schema.fields.filter { !last.fields.contains($0) }.map { StoredName($0.name) })
    for record in try repository.filter(CoverageRecord.self, where: \.model == model).result() {
      let coverage = try LayerCoding.value(Coverage.self, record.content)
      guard coverage.fields.contains(where: { fields.contains(StoredName($0)) }) else { continue }
      try repository.delete(CoverageRecord.self, id: record.primaryKey)
    }
  }

  /// Moves the outbox of the model's earlier names, and forgets what was known under them.
  private func adoptFormerNames(by writer: UUID) throws {
    for name in try Object.schema.declaration.formerNames {
      let entries = Array(
        try repository.filter(OutboxRecord.self, where: \.model == name).sorted(by: \.number).result())
      for var entry in entries {
        if let schemaName = entry.schemaName,
          let schema = try LayerSchemas.schema(named: schemaName, of: name, in: repository)
        {
          try LayerSchemas.save(schema, as: schemaName, of: model, in: repository)
        }
        try repository.delete(OutboxRecord.self, id: entry.primaryKey)
        (entry.model, entry.number, entry.jointEnd) = (model, try advance(by: writer), nil)
        try repository.insert(entry)
      }
      let keys = try repository.filter(WaitingKeyRecord.self, where: \.model == name).delete()
      if !entries.isEmpty || keys > 0 {
        _ = try repository.filter(WaitingKeyRecord.self, where: \.model == model).delete()
      }
      for stale in try repository.filter(StaleKeyRecord.self, where: \.model == name).result() {
        try repository.delete(StaleKeyRecord.self, id: stale.primaryKey)
        try repository.save(StaleKeyRecord(model: model, part: stale.part, isSettled: stale.isSettled))
      }
      _ = try repository.filter(CoverageRecord.self, where: \.model == name).delete()
    }
  }
}

extension SchemaFit {
  /// Whether each present field has the values of one stored field of the same kind.
  fileprivate var keepsValues: Bool {
    let mapping: SchemaMapping?
    switch self {
    case .absent, .refused: return false
    case .same: return true
    case .mapped(let found): mapping = found
    case .evolves(let plan): mapping = plan.reading
    }
    guard let mapping else { return false }
    return zip(mapping.declared.fields, mapping.sources).allSatisfy { field, source in
      guard case .stored(let position) = source else { return false }
      return mapping.stored.fields[position].kind == field.kind
    }
  }
}

extension Coverage {
  /// The names of the fields that the region depends on.
  fileprivate var fields: [String] { (predicate?.fields ?? []) + order.map(\.field) }
}

extension ReservedModel {
  /// The schemas that the layers' records were written with.
  static let layerSchemas = "persistence.layers.schemas"
}
