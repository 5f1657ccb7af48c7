import PersistencePrimitives

/// A value that a field is set to.
public struct FieldAssignment: Sendable, Hashable, Codable {
  /// The stored name of the field.
  public var field: String
  /// The value.
  public var value: PersistentValue

  /// Makes an assignment.
  public init(_ field: String, _ value: PersistentValue) {
    self.field = field
    self.value = value
  }

  /// Whether two assignments set the same field, byte for byte, to the same value.
  public static func == (left: FieldAssignment, right: FieldAssignment) -> Bool {
    StoredName(left.field) == StoredName(right.field) && left.value == right.value
  }

  /// Feeds field and value into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(StoredName(field))
    hasher.combine(value)
  }
}

/// What a driver is asked to change in place: fields of the rows of a request, each set to a value.
///
/// It is checked when it is made, as ``FetchRequest`` is.
public struct UpdateRequest: Sendable, Hashable {
  /// The rows; their order, limit, offset and anchor decide which are changed.
  public let rows: FetchRequest

  /// What is set, each field once, with values as they are stored.
  public let assignments: [FieldAssignment]

  /// Makes a request and checks it.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - assignments: What is set; of two for one field, the later counts.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` where a field does not exist, and
  ///   ``PersistenceError/Code/invalidRequest`` where nothing is set, a key field is, or a value is not of its field's
  ///   kind.
  public init(_ rows: FetchRequest, set assignments: [FieldAssignment]) throws {
    let schema = rows.schema
    guard !assignments.isEmpty else { throw PersistenceError.invalidRequest("an update sets nothing") }
    var values: [Int: PersistentValue] = [:]
    for assignment in assignments {
      guard let position = schema.position(of: assignment.field) else {
        throw PersistenceError.unknownField(assignment.field, in: schema)
      }
      let field = schema.fields[position]
      guard !schema.keyPositions.contains(position) else {
        throw PersistenceError.invalidRequest(
          "“\(field.name)” is part of the primary key of \(schema.name); delete the records and insert others"
        )
      }
      let fits = assignment.value.isNull ? field.isOptional : assignment.value.tag == field.kind.tag
      guard fits else {
        throw PersistenceError.invalidRequest(
          "“\(field.name)” of \(schema.name) is \(field.shape) and cannot be set to \(assignment.value.tag)")
      }
      if case .integer(let number) = assignment.value, let range = field.kind.integerRange,
        !range.contains(number)
      {
        throw PersistenceError.invalidRequest(
          "“\(field.name)” of \(schema.name) is \(field.kind.rawValue), which cannot hold \(number)")
      }
      values[position] = assignment.value.normalized
    }
    self.rows = rows
    self.assignments = values.sorted { $0.key < $1.key }.map {
      FieldAssignment(schema.fields[$0.key].name, $0.value)
    }
  }
}
