import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

/// How the present declaration reads an outbox entry, which may be written with another schema.
///
/// An entry is fitted as the records of a store are: by the same comparison, with the same rules.
enum EntryFit<Object: PersistentRecord> {
  /// The fields have the present names, or earlier ones; the schema of the entry is unknown.
  case byName(ModelDeclaration)
  /// A field of the entry or a constant for each present field.
  case mapped(SchemaMapping)
  /// The entry changes as records do.
  case changed(SchemaChange)

  /// - Parameters:
  ///   - stored: The schema of the entry; nil if it is unknown.
  ///   - repository: The repository of the entry.
  /// - Throws: `schemaMismatch` or `newerStore` if the declaration does not fit.
  init(_ stored: ModelSchema?, in repository: any PersistentRepository) throws {
    let declaration = try Object.schema.declaration
    guard let stored, try stored != Object.schema.model else {
      self = .byName(declaration)
      return
    }
    switch try StoredDeclaration.fit(Object.self, to: stored, in: repository) {
    case .absent, .same: self = .byName(declaration)
    case .mapped(let mapping): self = .mapped(mapping)
    case .evolves(let plan): self = plan.reading.map { .mapped($0) } ?? .changed(plan.change)
    case .refused(let differences):
      throw Self.mismatch(
        differences.map { "\($0)" }.joined(separator: "; "), try Object.schema.model)
    }
  }

  /// The object with the fields of an entry.
  func object(_ fields: [OutboxChange.Field]) throws -> Object {
    let schema = try Object.schema.model
    let values: [PersistentValue]
    switch self {
    case .byName(let declaration): values = try Self.values(fields, declaration)
    case .mapped(let mapping):
      let stored = try Self.values(fields, in: mapping.stored)
      values = mapping.sources.map { source in
        switch source {
        case .stored(let position): stored[position]
        case .constant(let value): value
        }
      }
    case .changed(let change):
      let old = RowBuffer(count: change.stored.fields.count)
      old.set(try Self.values(fields, in: change.stored))
      let target = try old.withRow { try change.values(from: $0) }
      values = try schema.fields.map { field in
        guard let position = change.target.position(of: field.name) else {
          throw Self.mismatch("the field “\(field.name)” has no value", schema)
        }
        return target[position]
      }
    }
    let row = RowBuffer(count: schema.fields.count)
    row.set(values)
    return try row.withRow { row in
      try schema.validate(row)
      return try Object(from: row)
    }
  }

  /// The values of an entry, in the order of its own schema.
  private static func values(
    _ fields: [OutboxChange.Field], in schema: ModelSchema
  ) throws -> [PersistentValue] {
    try schema.fields.map { field in
      guard let found = fields.first(where: { $0.name.utf8.elementsEqual(field.name.utf8) }) else {
        throw mismatch("the field “\(field.name)” is missing", schema)
      }
      return found.value
    }
  }

  /// The values of an entry of unknown schema, by present and earlier names.
  private static func values(
    _ fields: [OutboxChange.Field], _ declaration: ModelDeclaration
  ) throws -> [PersistentValue] {
    let schema = declaration.schema
    var used = 0
    let values = try zip(schema.fields, declaration.fields).map { field, past in
      let names = [field.name] + past.formerNames.filter { schema.position(of: $0) == nil }
      for name in names {
        guard let found = fields.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { continue }
        used += 1
        return found.value
      }
      guard let value = past.fill ?? (field.isOptional ? .null : nil) else {
        throw mismatch("the field “\(field.name)” is new and must not be nil", schema)
      }
      return value
    }
    // The user set a value that no field can keep.
    if used < fields.count, let lost = fields.first(where: { schema.position(of: $0.name) == nil }) {
      throw mismatch("the field “\(lost.name)” was removed", schema)
    }
    return values
  }

  private static func mismatch(_ reason: String, _ schema: ModelSchema) -> PersistenceError {
    PersistenceError(
      .schemaMismatch,
      "the outbox entry of a \(schema.name) was written with another schema: \(reason); resend it with new "
        + "changes, or discard it", model: schema.name)
  }
}
