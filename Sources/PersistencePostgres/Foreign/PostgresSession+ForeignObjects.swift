import PersistenceDriver
import PersistencePrimitives
import PersistenceSQL

/// The objects of other programs' schema beyond the columns and keys of its tables.
extension PostgresSession {
  /// The objects that a copy by models omits, in a stable order.
  func foreignUnmappedObjects() throws -> [UnmappedObject] {
    var objects: [UnmappedObject] = []
    for name in catalog.others.keys.sorted() {
      guard let text = catalog.others[name] else { continue }
      objects += try other(name.text, store.relation(text), catalog.rejected[name])
    }
    for name in catalog.layouts.keys.sorted() {
      guard let table = try store.table(name, in: catalog)?.foreign else { continue }
      objects += constraints(of: table) + columns(of: table) + indexes(of: table)
      objects += table.relation.triggers.map {
        UnmappedObject(.trigger, $0.name, model: name.text, detail: $0.definition)
      }
    }
    return objects
  }

  /// A table or view that is no model.
  private func other(_ name: String, _ relation: PostgresForeignRelation, _ error: PersistenceError?) throws
    -> [UnmappedObject]
  {
    guard let error else {
      return [UnmappedObject(.view, name, detail: "a view is copied as records only if you name it")]
    }
    var records: Int?
    if relation.isReadable {
      let count = try run(
        PostgresCommand("SELECT pg_catalog.count(*) FROM \(store.dialect.table(name))"),
        "count the rows of a table")
      records = count.integer(0, 0).map { Int($0) }
    }
    let kind: UnmappedObject.Kind = relation.isView ? .view : .table
    return [UnmappedObject(kind, name, detail: "not copied: \(error.message)", records: records)]
  }

  private func constraints(of table: PostgresForeignTable) -> [UnmappedObject] {
    table.relation.constraints.map { constraint in
      guard constraint.kind == "f" else {
        return UnmappedObject(
          .check, constraint.name, model: table.schema.name,
          detail: "\(constraint.definition); the records satisfy it, but the constraint is not copied")
      }
      return UnmappedObject(
        .foreignKey, constraint.name, model: table.schema.name,
        detail: "\(constraint.definition); the values are copied, the constraint is not",
        reference: reference(constraint, of: table))
    }
  }

  /// The reference that a foreign key amounts to: of one column, to the key of a table that is a model.
  private func reference(_ constraint: PostgresForeignRelation.Constraint, of table: PostgresForeignTable)
    -> UnmappedObject.Reference?
  {
    guard let target = constraint.target, let columns = constraint.columns, columns.count == 1,
      table.schema.field(named: columns[0]) != nil,
      let schema = try? store.table(StoredName(target), in: catalog)?.schema, schema.key == constraint.targets
    else { return nil }
    let rule: DeleteRule =
      switch constraint.onDelete {
      case "c": .cascade
      case "n": .setNil
      default: .restrict
      }
    return UnmappedObject.Reference(columns[0], to: target, onDelete: rule)
  }

  private func columns(of table: PostgresForeignTable) -> [UnmappedObject] {
    let model = table.schema.name
    var objects = PostgresForeignTable.omittedColumns(table.relation).map {
      UnmappedObject(.column, $0.name, model: model, detail: "not copied: \($0.reason)")
    }
    for column in table.relation.columns where PostgresForeignType(column) != nil {
      let isField = table.schema.field(named: column.name) != nil
      if column.isGenerated || !column.identity.isEmpty {
        let rule = column.isGenerated ? "its expression \(column.default ?? "")" : "its sequence"
        let becomes = isField ? "its values are copied" : "it is a field only with readonly=true"
        objects.append(
          UnmappedObject(
            .generatedColumn, column.name, model: model,
            detail: "the server generates its values; \(becomes), \(rule) is not copied"))
      } else if let text = column.default {
        objects.append(
          UnmappedObject(
            .defaultValue, column.name, model: model,
            detail: "DEFAULT \(text); the values are copied, the default is not"))
      }
      if let collation = column.collation, !column.isBinary {
        objects.append(
          UnmappedObject(
            .collation, column.name, model: model,
            detail: "COLLATE \(collation); models compare text byte by byte"))
      }
    }
    return objects
  }

  /// The indexes that a model cannot have.
  private func indexes(of table: PostgresForeignTable) -> [UnmappedObject] {
    let key = table.schema.key
    return table.relation.indexes.compactMap { index in
      let isKey = index.isUnique && !index.isPartial && index.columns.compactMap(\.self) == key
      guard !table.indexNames.contains(index.name), !isKey else { return nil }
      let unique = index.isUnique ? "; uniqueness is not enforced in the copy" : ""
      return UnmappedObject(
        .index, index.name, model: table.schema.name,
        detail: "the index is not copied: \(index.definition)\(unique)")
    }
  }
}
