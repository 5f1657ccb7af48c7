import PersistenceDriver

/// The total order of a request, prepared for one schema: the one comparison of rows (contract O2, O3).
public struct RowOrder: Sendable {
  /// One criterion: the position of a field and a direction.
  package struct Criterion: Sendable {
    package let position: Int
    package let isDescending: Bool
  }

  /// The criteria, most significant first, with tie-breakers.
  package let criteria: [Criterion]

  /// Prepares an order.
  ///
  /// - Parameters:
  ///   - order: Criteria over fields, such as ``FetchRequest/totalOrder``.
  ///   - schema: The schema whose positions rows have.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField``.
  public init(_ order: [FieldOrder], in schema: ModelSchema) throws {
    criteria = try order.map {
      Criterion(position: try schema.requiredPosition(of: $0.field), isDescending: $0.isDescending)
    }
  }

  /// The sort key of a row, which outlives the row.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if stored bytes are not a value.
  public func key(of row: borrowing Row) throws -> [PersistentValue] {
    var key: [PersistentValue] = []
    key.reserveCapacity(criteria.count)
    for criterion in criteria { key.append(try row.value(at: criterion.position)) }
    return key
  }

  /// Compares two sort keys made by ``key(of:)`` or a page anchor's values: negative, zero or positive.
  public func compare(_ left: [PersistentValue], _ right: [PersistentValue]) -> Int {
    for (index, criterion) in criteria.enumerated() {
      let order = PersistentValue.compare(left[index], right[index])
      if order != 0 { return criterion.isDescending ? -order : order }
    }
    return 0
  }

  /// Compares two rows: negative, zero or positive.
  public func compare(_ left: borrowing Row, _ right: borrowing Row) -> Int {
    for criterion in criteria {
      let order = RowCell.compare(left[criterion.position], right[criterion.position])
      if order != 0 { return criterion.isDescending ? -order : order }
    }
    return 0
  }
}
