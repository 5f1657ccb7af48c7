import PersistenceDriver
import PersistenceSQL

/// The statements that create a model's table and indexes.
struct PostgresDefinition {
  private let layout: PostgresLayout
  private let dialect: PostgresDialect
  private var schema: ModelSchema { layout.schema }

  init(_ layout: PostgresLayout, _ dialect: PostgresDialect) {
    self.layout = layout
    self.dialect = dialect
  }

  private func column(_ position: Int) -> String { dialect.identifier(layout.columns[position]) }

  /// Only the key's columns are NOT NULL: the catalog says which other fields are optional.
  var table: String {
    var parts = schema.fields.enumerated().map { position, field in
      "\(column(position)) \(field.kind.postgresType)\(schema.keyPositions.contains(position) ? " NOT NULL" : "")"
    }
    parts.append("PRIMARY KEY (\(schema.keyPositions.map(column).joined(separator: ", ")))")
    return "CREATE TABLE \(dialect.table(layout.table)) (\(parts.joined(separator: ", ")))"
  }

  /// The statement for an index; a non-unique index ends with the key's columns, to yield the total order (contract O2).
  ///
  /// The entries of a wide index have the beginnings of texts and bytes; those of a unique one have their digests.
  func index(_ number: Int, name: String, isWide: Bool) -> String {
    let index = schema.indexes[number]
    var positions = index.fields.compactMap { schema.position(of: $0) }
    if !index.isUnique { positions += schema.keyPositions.filter { !positions.contains($0) } }
    let long = positions.filter { [.text, .bytes].contains(schema.fields[$0].kind.tag) }.count
    let parts = positions.map { position in
      let tag = schema.fields[position].kind.tag
      guard isWide, tag == .text || tag == .bytes else {
        return column(position) + (schema.fields[position].isOptional ? " NULLS FIRST" : "")
      }
      guard !index.isUnique else { return digest(column(position), tag) }
      // A scalar has up to four bytes.
      let count = max(8, 600 / long)
      return
        "(pg_catalog.\(tag == .text ? "left" : "substr")(\(column(position)), \(tag == .text ? "" : "1, ")\(count)))"
        + (schema.fields[position].isOptional ? " NULLS FIRST" : "")
    }
    return "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(dialect.identifier(name)) "
      + "ON \(dialect.table(layout.table)) (\(parts.joined(separator: ", ")))"
  }

  /// The digest of a value; a cast of text to bytes would take backslashes for escapes.
  private func digest(_ column: String, _ tag: RowCell.Tag) -> String {
    guard tag == .text else { return "(pg_catalog.sha256(\(column)))" }
    return "(pg_catalog.sha256(pg_catalog.replace(\(column), E'\\\\', E'\\\\\\\\')::bytea))"
  }

  /// The number of columns of the widest index.
  var widestIndex: Int {
    schema.indexes.map { index in
      index.fields.count
        + (index.isUnique
          ? 0
          : schema.key.filter { key in
            !index.fields.contains { StoredName($0) == StoredName(key) }
          }.count)
    }.max() ?? 0
  }

  /// The size of a row in the table at least, in bytes: long values take a pointer.
  var leastRowSize: Int {
    schema.fields.reduce(24 + schema.fields.count / 8) { size, field in
      switch field.kind.tag {
      case .bool: size + 1
      case .integer, .double, .date: size + 8
      case .uuid: size + 16
      default: size + (field.isOptional ? 0 : 1)
      }
    }
  }
}
