import PersistencePrimitives

/// An assignment of a value to a field.
public struct FieldAssignment: Sendable, Hashable, Codable {
  /// The stored name of the field.
  public var field: String
  /// The value.
  public var value: PersistentValue

  /// Creates an assignment.
  public init(_ field: String, _ value: PersistentValue) {
    self.field = field
    self.value = value
  }

  /// Whether two assignments set the same field to the same value; names are compared by their bytes.
  public static func == (left: FieldAssignment, right: FieldAssignment) -> Bool {
    StoredName(left.field) == StoredName(right.field) && left.value == right.value
  }

  /// Hashes the field and the value.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(StoredName(field))
    hasher.combine(value)
  }
}

/// A request to set fields of rows.
///
/// It is validated when it is created, like ``FetchRequest``.
public struct UpdateRequest: Sendable, Hashable {
  /// The rows to change, after their order, limit, offset and anchor.
  public let rows: FetchRequest

  /// The assignments, one for each field, with normalized values.
  public let assignments: [FieldAssignment]

  /// Creates and validates a request.
  ///
  /// - Parameters:
  ///   - rows: The rows to change.
  ///   - assignments: The assignments; of two for one field, the later one counts.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` if a field does not exist, and
  ///   ``PersistenceError/Code/invalidRequest`` if there is no assignment, one sets a key field, or a value does not
  ///   have its field's kind.
  public init(_ rows: FetchRequest, set assignments: [FieldAssignment]) throws {
    let schema = rows.schema
    guard !assignments.isEmpty else {
      throw PersistenceError.invalidRequest("the update sets no fields; name at least one")
    }
    var values: [Int: PersistentValue] = [:]
    for assignment in assignments {
      let position = try schema.requiredPosition(of: assignment.field)
      let field = schema.fields[position]
      guard !schema.keyPositions.contains(position) else {
        throw PersistenceError.invalidRequest(
          "“\(field.name)” is part of the primary key of \(schema.name); delete the records and insert new ones"
        )
      }
      let matches = assignment.value.isNull ? field.isOptional : assignment.value.tag == field.kind.tag
      guard matches else {
        throw PersistenceError.invalidRequest(
          "“\(field.name)” of \(schema.name) has the kind \(field.shape) and cannot be set to \(assignment.value.tag)"
        )
      }
      if case .integer(let number) = assignment.value, let range = field.kind.integerRange,
        !range.contains(number)
      {
        throw PersistenceError.invalidRequest(
          "“\(field.name)” of \(schema.name) has the kind \(field.kind.rawValue), which cannot represent \(number)"
        )
      }
      if case .double(let number) = assignment.value, !field.kind.canRepresent(number) {
        throw PersistenceError.invalidRequest(
          "“\(field.name)” of \(schema.name) has the kind \(field.kind.rawValue), which cannot represent \(number)"
        )
      }
      values[position] = assignment.value.normalized
    }
    self.rows = rows
    self.assignments = values.sorted { $0.key < $1.key }.map {
      FieldAssignment(schema.fields[$0.key].name, $0.value)
    }
  }
}
