import Foundation
public import PersistenceDriver

/// Makes records of a destination of the records of a source, by a mapping: for one model.
public struct RecordMapper: Sendable {
  /// The model in the source.
  public let source: ModelSchema
  /// The model in the destination.
  public let destination: ModelSchema
  /// Whether rows are the same in both, so that ``map(_:into:)`` needs not be called.
  public let isIdentity: Bool
  /// Whether values may lose something on their way, so that looking at the schemas does not tell.
  public let mayLose: Bool
  /// Whether a field of the primary key holds something else in the destination, so that the order of the records is
  /// another.
  public let changesKey: Bool
  /// The indexes of the source that the destination cannot have, since a field is left out or a document.
  public let droppedIndexes: [IndexSchema]

  /// What happens to one field of the destination.
  struct Step: Sendable {
    /// The field's position in the source.
    let position: Int
    let conversion: ValueConversion?
    let filling: PersistentValue?
    let isOptional: Bool
  }

  let steps: [Step]
  private let allowsLoss: Bool

  /// How many values lost something, by the field's position in the destination.
  public private(set) var losses: [Int: Int] = [:]

  /// Prepares for a model.
  ///
  /// - Parameters:
  ///   - mapping: The mapping.
  ///   - schema: The model in the source.
  ///   - allowsLoss: Whether values may lose something; where not, such a value is an error.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` where a rule is about no field,
  ///   ``PersistenceError/Code/invalidRequest`` where rules contradict each other or the field, and
  ///   ``PersistenceError/Code/invalidSchema`` where what they make is no model.
  public init(_ mapping: MigrationMapping, _ schema: ModelSchema, allowsLoss: Bool = false) throws {
    let rules = mapping.rules.filter { StoredName($0.model) == StoredName(schema.name) }
    for rule in rules where schema.position(of: rule.field) == nil {
      throw PersistenceError.unknownField(rule.field, in: schema)
    }
    var (fields, steps, names): ([FieldSchema], [Step], [StoredName: String]) = ([], [], [:])
    for (position, field) in schema.fields.enumerated() {
      let mapped = try FieldMapping(
        field, rules.filter { StoredName($0.field) == StoredName(field.name) }, in: schema)
      guard let mapped else { continue }
      names[StoredName(field.name)] = mapped.field.name
      fields.append(mapped.field)
      steps.append(
        Step(
          position: position, conversion: mapped.conversion, filling: mapped.filling,
          isOptional: mapped.field.isOptional))
    }
    let key = try schema.key.map { name in
      guard let new = names[StoredName(name)] else {
        throw PersistenceError.invalidRequest(
          "“\(name)” is in the primary key of \(schema.name), so it cannot be left out")
      }
      return new
    }
    var (indexes, dropped): ([IndexSchema], [IndexSchema]) = ([], [])
    for index in schema.indexes {
      let new = index.fields.compactMap { names[StoredName($0)] }
      let isPossible = new.allSatisfy { name in
        fields.contains { StoredName($0.name) == StoredName(name) && $0.kind.isOrdered }
      }
      if new.count == index.fields.count, isPossible {
        indexes.append(IndexSchema(new, isUnique: index.isUnique))
      } else {
        dropped.append(index)
      }
    }
    let name = mapping.destinationName(of: schema.name)
    source = schema
    destination =
      rules.isEmpty && StoredName(name) == StoredName(schema.name)
      ? schema : try ModelSchema(name: name, fields: fields, key: key, indexes: indexes)
    droppedIndexes = dropped
    isIdentity =
      steps.count == schema.fields.count && steps.allSatisfy { $0.conversion == nil && $0.filling == nil }
    changesKey = steps.contains { schema.keyPositions.contains($0.position) && $0.conversion != nil }
    mayLose = steps.contains { $0.conversion != nil }
    self.steps = steps
    self.allowsLoss = allowsLoss
  }

  /// Fills a buffer with the record of the destination; its memory may be the row's, so it is used before the row goes.
  ///
  /// - Parameters:
  ///   - row: The record of the source.
  ///   - target: A buffer with room for the destination's fields.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/encodingFailed`` where a value has no counterpart
  ///   in its new kind, and ``PersistenceError/Code/lossyMigration`` where it would lose something and may not.
  public mutating func map(_ row: borrowing Row, into target: RowBuffer) throws {
    target.reset()
    for (place, step) in steps.enumerated() {
      let cell = row[step.position]
      if cell.isNull {
        try setNull(step, target, place, row)
      } else if let conversion = step.conversion {
        switch conversion.convert(try cell.value()) {
        case .exact(let value) where value.isNull: try setNull(step, target, place, row)
        case .exact(let value): target.set(value, at: place)
        case .rounded(let value, let lost):
          guard allowsLoss else {
            throw failure(
              .lossyMigration, place, row, "\(lost) would be lost; allow it, or map the field otherwise")
          }
          losses[place, default: 0] += 1
          target.set(value, at: place)
        case .impossible(let reason): throw failure(.encodingFailed, place, row, reason)
        }
      } else {
        target.setCell(cell, at: place)
      }
    }
  }

  private func setNull(_ step: Step, _ target: RowBuffer, _ place: Int, _ row: borrowing Row) throws {
    if let filling = step.filling { return target.set(filling, at: place) }
    guard step.isOptional else {
      throw failure(
        .encodingFailed, place, row, "the value is nil, and the field may not be; give it a default")
    }
  }

  private func failure(
    _ code: PersistenceError.Code, _ place: Int, _ row: borrowing Row, _ reason: String
  ) -> PersistenceError {
    let field = source.fields[steps[place].position]
    return PersistenceError(
      code, "“\(field.name)” cannot be carried over: \(reason)", model: source.name, field: field.name,
      key: try? RecordKey(of: row, in: source))
  }
}
