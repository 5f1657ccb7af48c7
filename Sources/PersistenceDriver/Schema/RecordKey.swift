import PersistencePrimitives

/// A primary key: one value for each key field, in order.
public struct RecordKey: Sendable, Hashable, Codable, Comparable {
  /// The values of the key fields.
  public let values: [PersistentValue]

  /// Creates a key from values.
  @inlinable
  public init(_ values: [PersistentValue]) { self.values = values }

  /// Reads the key of a row.
  ///
  /// - Parameters:
  ///   - row: A row written with the schema.
  ///   - schema: The schema of the row.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if stored bytes are not a value.
  public init(of row: borrowing Row, in schema: ModelSchema) throws {
    var values: [PersistentValue] = []
    values.reserveCapacity(schema.keyPositions.count)
    for position in schema.keyPositions { values.append(try row.value(at: position)) }
    self.values = values
  }

  /// Whether one key sorts before another, field by field.
  public static func < (left: RecordKey, right: RecordKey) -> Bool {
    compare(left, right) < 0
  }

  /// Compares two keys, field by field: negative, zero or positive.
  public static func compare(_ left: RecordKey, _ right: RecordKey) -> Int {
    for (first, second) in zip(left.values, right.values) {
      let order = PersistentValue.compare(first, second)
      if order != 0 { return order }
    }
    return TotalOrder.compare(Int64(left.values.count), Int64(right.values.count))
  }

  /// Checks that the key has a value of the right kind for each key field of a schema.
  ///
  /// - Parameter schema: The schema of the model.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest``.
  public func validate(for schema: ModelSchema) throws {
    if let tag = schema.soleKeyTag, values.count == 1, values[0].tag == tag { return }
    guard values.count == schema.key.count else {
      throw PersistenceError.invalidRequest(
        "the key of \(schema.name) has \(schema.key.count) fields, but got \(values.count) values")
    }
    for (value, position) in zip(values, schema.keyPositions)
    where value.tag != schema.fields[position].kind.tag {
      throw PersistenceError.invalidRequest(
        "the key field \(schema.fields[position]) of \(schema.name) cannot be \(value.tag)")
    }
  }
}

extension RecordKey: CustomStringConvertible {
  /// The key as text, in parentheses if it has several values.
  public var description: String {
    values.count == 1 ? "\(values[0])" : "(" + values.map { "\($0)" }.joined(separator: ", ") + ")"
  }
}
