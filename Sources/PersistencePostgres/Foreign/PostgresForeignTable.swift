import PersistenceDriver
import PersistenceSQL

/// A table of another program, as a model.
struct PostgresForeignTable {
  let schema: ModelSchema
  /// The columns, in the order of the schema's fields.
  let columns: [PostgresForeignColumn]
  /// The indexes of the schema by name, in its order.
  let indexNames: [String]
  /// Whether an insertion gives a value to a column that the server always generates.
  let overridesIdentity: Bool
  let relation: PostgresForeignRelation

  /// Makes the model of a table; of a view with the column that identifies its rows.
  ///
  /// - Throws: ``PersistenceError`` with code `unsupported` if no model can represent the table, and why.
  init(_ name: String, _ relation: PostgresForeignRelation, viewKey: String?, _ store: PostgresStore) throws {
    self.relation = relation
    func refuse(_ reason: String) -> PersistenceError {
      PersistenceError.unsupported(
        "use the table “\(name)” as a model: \(reason)", by: "the PostgreSQL context"
      )
      .at(model: name, location: store.location)
    }
    guard relation.isReadable else { throw refuse("the user may not read it; grant SELECT on it") }
    guard !relation.hasChildren else {
      throw refuse("other tables inherit from it, and their rows may have the same keys; read those tables")
    }
    let usable = Self.usableColumns(relation, isReadOnly: store.configuration.isReadOnly)
    guard let key = viewKey.map({ [$0] }) ?? Self.key(relation, usable) else {
      throw refuse(
        relation.isView
          ? "no column identifies its rows; add a unique column to it"
          : "neither its primary key nor another required unique key consists of integers, texts and UUIDs; add one"
      )
    }
    columns = usable.map { column, type in
      let isRequired = column.isRequired || key.contains(column.name)
      return PostgresForeignColumn(column, type, isOptional: !isRequired)
    }
    let fields = columns.map { FieldSchema($0.name, $0.type.kind, isOptional: $0.sql.isOptional) }
    var indexes: [(name: String, schema: IndexSchema)] = []
    for index in relation.indexes where Self.isModelIndex(index, usable) {
      let schema = IndexSchema(index.columns.compactMap(\.self), isUnique: index.isUnique)
      let isKey = index.isUnique && schema.fields == key
      if !isKey, !indexes.contains(where: { $0.schema == schema }) { indexes.append((index.name, schema)) }
    }
    indexNames = indexes.map(\.name)
    overridesIdentity = relation.columns.contains { $0.identity == "a" && key.contains($0.name) }
    do {
      schema = try ModelSchema(name: name, fields: fields, key: key, indexes: indexes.map(\.schema))
    } catch let error as PersistenceError where error.code == .invalidSchema {
      throw refuse(error.message)
    }
  }

  private typealias Usable = [(PostgresForeignRelation.Column, PostgresForeignType)]

  /// The columns that are fields: those with a kind, and in a store for writing those that can be written.
  private static func usableColumns(_ relation: PostgresForeignRelation, isReadOnly: Bool) -> Usable {
    let primary = relation.indexes.first(where: \.isPrimary)?.columns ?? []
    return relation.columns.compactMap { column in
      let isGenerated = column.isGenerated || (column.identity == "a" && !primary.contains(column.name))
      guard isReadOnly || !isGenerated else { return nil }
      return PostgresForeignType(column).map { (column, $0) }
    }
  }

  /// The columns of the primary key or, if it cannot be one of a model, of another key whose columns are required.
  private static func key(_ relation: PostgresForeignRelation, _ usable: Usable) -> [String]? {
    let keys = relation.indexes.filter {
      $0.isUnique && $0.isValid && !$0.isPartial && ($0.isImmediate || $0.isPrimary)
    }
    for index in keys.filter(\.isPrimary) + keys.filter({ !$0.isPrimary }) {
      let columns = index.columns.compactMap { name in usable.first { $0.0.name == name } }
      guard columns.count == index.columns.count, !columns.isEmpty,
        columns.allSatisfy({ $0.0.isRequired && $0.1.kind.isKey })
      else { continue }
      return columns.map(\.0.name)
    }
    return nil
  }

  /// Whether an index is one that a model can have: over columns, with the equality of models.
  private static func isModelIndex(_ index: PostgresForeignRelation.Index, _ usable: Usable) -> Bool {
    guard index.isValid, !index.isPartial, index.isTree, index.isDeterministic,
      Set(index.columns).count == index.columns.count
    else { return false }
    if index.isUnique, !index.isImmediate || index.nilsCollide { return false }
    return index.columns.allSatisfy { name in
      usable.contains { $0.0.name == name && $0.1.hasEqualityOfModels($0.0) }
    }
  }

  /// The table with its layout, under which the rest of this module knows it.
  func table(definition: String) -> PostgresTable {
    var layout = PostgresLayout(schema: schema, table: schema.name, columns: columns.map(\.name))
    layout.indexes = indexNames.map { PostgresLayout.Index(name: $0, isWide: true) }
    return PostgresTable(layout, definition: definition, foreign: self)
  }
}

extension PostgresForeignTable {
  /// The columns of a table that no field represents, and why.
  static func omittedColumns(_ relation: PostgresForeignRelation) -> [(name: String, reason: String)] {
    relation.columns.compactMap { column in
      guard PostgresForeignType(column) == nil else { return nil }
      return (
        column.name,
        "no kind represents its type \(column.declared); read a view that casts it to text, or leave it out"
      )
    }
  }
}
