import PersistenceDriver
import PersistenceSQL
import PersistenceDriverSupport

/// A table of the file that holds a model, and the declarations that have been used with it.
final class SQLiteTable: Sendable {
  /// The schema that the file holds the model under.
  let schema: ModelSchema

  /// The table's name in the file.
  let name: String

  /// The columns, in the order of the stored fields.
  let columns: [SQLColumn]

  /// The name by which a row's number is asked for; nil where rows have none.
  let rowNumber: String?

  /// What the file says about the table, to notice that it says something else.
  let definition: String

  /// Whether another program made it.
  let isForeign: Bool

  /// Whether its definition says what becomes of conflicts.
  let decidesConflicts: Bool

  /// What was found in columns whose declared types do not say it, by their names.
  let findings: [String: String]

  private let models = Lock<[SQLiteModel]>([])

  /// How many declarations are remembered; programs that make schemas by the thousand make equal ones.
  private static let modelLimit = 200

  init(
    schema: ModelSchema, name: String, columns: [SQLColumn], rowNumber: String?, definition: String,
    isForeign: Bool = false, decidesConflicts: Bool = false, findings: [String: String] = [:]
  ) {
    self.schema = schema
    self.name = name
    self.columns = columns
    self.rowNumber = rowNumber
    self.definition = definition
    self.isForeign = isForeign
    self.decidesConflicts = decidesConflicts
    self.findings = findings
  }

  /// The declaration, fitted to this table.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` where it does not fit.
  func model(for declared: ModelSchema, store: SQLiteStore) throws -> SQLiteModel {
    let identity = declared.identity
    let known = models.withLock { models in models.first { $0.schema.identity == identity } }
    if let known { return known }
    // Most schemas that are made anew say what another has said: it is used in their place.
    let equal = models.withLock { models in models.first { $0.schema == declared } }
    if let equal { return equal }
    try declared.requireCompatible(with: schema, location: store.location)
    let model = SQLiteModel(declared, in: fitted(to: declared), number: store.nextModelNumber())
    models.withLock { models in
      if models.count >= Self.modelLimit { models.removeAll() }
      models.append(model)
    }
    return model
  }

  private func fitted(to declared: ModelSchema) -> SQLTable {
    SQLTable(
      name: name,
      columns: declared.fields.compactMap { field in schema.position(of: field.name).map { columns[$0] } },
      key: declared.keyPositions,
      indexes: declared.indexes.map { $0.fields.compactMap { declared.position(of: $0) } },
      rowNumber: rowNumber, isForeign: isForeign, decidesConflicts: decidesConflicts)
  }
}
