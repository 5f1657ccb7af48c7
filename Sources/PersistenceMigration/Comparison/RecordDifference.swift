public import PersistenceDriver

/// A record that differs between two stores.
public struct RecordDifference: Sendable, Hashable, Codable {
  /// A kind of difference.
  public enum Kind: String, Sendable, Hashable, Codable {
    /// The record exists only in the left store.
    case onlyLeft = "-"
    /// The record exists only in the right store.
    case onlyRight = "+"
    /// The record exists in both stores with different values.
    case changed = "*"
  }

  /// A field with different values, shortened to the part that differs.
  public struct Field: Sendable, Hashable, Codable {
    /// The field's stored name.
    public var name: String
    /// The value in the left store.
    public var left: String
    /// The value in the right store.
    public var right: String
  }

  /// The kind of difference.
  public var kind: Kind
  /// The record's primary key.
  public var key: RecordKey
  /// The fields with different values, if the record exists in both stores.
  public var fields: [Field]
}

extension RecordDifference {
  /// The common fields in which a record differs from that of the same key in another store.
  static func fields(
    _ row: borrowing Row, _ schema: ModelSchema, _ key: RecordKey, in other: any StorageReader,
    _ otherSchema: ModelSchema
  ) throws -> [Field] {
    let copy = RowBuffer(count: row.count)
    for position in 0..<row.count { copy.setCopy(of: row[position], at: position) }
    var fields: [Field] = []
    _ = try other.find(key, in: otherSchema) { found in
      fields = try copy.withRow { try Self.fields($0, schema, found, otherSchema) }
    }
    return fields
  }

  /// The common fields in which two records differ.
  private static func fields(
    _ left: borrowing Row, _ leftSchema: ModelSchema, _ right: borrowing Row, _ rightSchema: ModelSchema
  ) throws -> [Field] {
    var fields: [Field] = []
    for (position, field) in leftSchema.fields.enumerated() {
      guard let other = rightSchema.position(of: field.name) else { continue }
      let (first, second) = (left[position], right[other])
      guard first.tag != second.tag || RowCell.compare(first, second) != 0 else { continue }
      let shown = try CellDifference.texts(first, second)
      fields.append(Field(name: field.name, left: shown.left, right: shown.right))
    }
    return fields
  }
}
