import Foundation
package import PersistenceDriver
import PersistencePrimitives
import PersistenceDriverSupport

/// Converts the records of one model from the source's schema to the destination's.
package struct RecordMapper: Sendable {
  package let source: ModelSchema
  package let destination: ModelSchema
  /// Whether rows need no conversion, so that callers may skip ``map(_:into:)``.
  package let isIdentity: Bool
  /// Whether a conversion may lose information, depending on the values.
  package let mayLose: Bool
  /// Whether a key field is converted, which may change the order of the records.
  package let changesKey: Bool
  /// The source indexes on dropped fields or fields that become documents.
  package let droppedIndexes: [IndexSchema]

  /// The conversion of one destination field.
  struct Step: Sendable {
    /// The field's position in the source.
    let position: Int
    let conversion: ValueConversion?
    let defaultValue: PersistentValue?
    let isOptional: Bool
  }

  let steps: [Step]
  private let allowsLoss: Bool

  /// The number of rounded values, by position in the destination.
  package private(set) var losses: [Int: Int] = [:]

  /// Creates a mapper for a model.
  ///
  /// Unless it allows losses, a value that needs rounding is an error.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` if a rule names an unknown field,
  ///   ``PersistenceError/Code/invalidRequest`` if rules contradict each other or the field, and
  ///   ``PersistenceError/Code/invalidSchema`` if the resulting schema is invalid.
  package init(_ mapping: MigrationMapping, _ schema: ModelSchema, allowsLoss: Bool = false) throws {
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
          position: position, conversion: mapped.conversion, defaultValue: mapped.defaultValue,
          isOptional: mapped.field.isOptional))
    }
    let key = try schema.key.map { name in
      guard let new = names[StoredName(name)] else {
        throw PersistenceError.invalidRequest(
          "“\(name)” belongs to the primary key of \(schema.name) and cannot be dropped")
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
      steps.count == schema.fields.count
      && steps.allSatisfy { $0.conversion == nil && $0.defaultValue == nil }
    changesKey = steps.contains { schema.keyPositions.contains($0.position) && $0.conversion != nil }
    mayLose = steps.contains { $0.conversion != nil }
    self.steps = steps
    self.allowsLoss = allowsLoss
  }

  /// Converts a record into a buffer.
  ///
  /// The buffer may point into the row's memory, so use it while the row is valid.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/encodingFailed`` if a value has no counterpart in
  ///   its new kind, and ``PersistenceError/Code/lossyMigration`` if it needs rounding that is not allowed.
  package mutating func map(_ row: borrowing Row, into target: RowBuffer) throws {
    target.reset()
    for (index, step) in steps.enumerated() {
      let cell = row[step.position]
      if cell.isNull {
        try setNull(step, target, index, row)
      } else if let conversion = step.conversion {
        switch conversion.convert(try cell.value()) {
        case .exact(let value) where value.isNull: try setNull(step, target, index, row)
        case .exact(let value): target.set(value, at: index)
        case .rounded(let value, let lost):
          guard allowsLoss else {
            throw failure(
              .lossyMigration, index, row,
              "the conversion loses \(lost); allow losses or map the field differently")
          }
          losses[index, default: 0] += 1
          target.set(value, at: index)
        case .impossible(let reason): throw failure(.encodingFailed, index, row, reason)
        }
      } else {
        target.setCell(cell, at: index)
      }
    }
  }

  private func setNull(_ step: Step, _ target: RowBuffer, _ index: Int, _ row: borrowing Row) throws {
    if let value = step.defaultValue { return target.set(value, at: index) }
    guard step.isOptional else {
      throw failure(
        .encodingFailed, index, row, "the value is nil, but the field is required; specify a default")
    }
  }

  private func failure(
    _ code: PersistenceError.Code, _ index: Int, _ row: borrowing Row, _ reason: String
  ) -> PersistenceError {
    let field = source.fields[steps[index].position]
    return PersistenceError(
      code, "“\(field.name)” cannot be converted: \(reason)", model: source.name, field: field.name,
      key: try? RecordKey(of: row, in: source))
  }
}

/// The combined rules of one field.
private struct FieldMapping {
  let field: FieldSchema
  let conversion: ValueConversion?
  let defaultValue: PersistentValue?

  /// Combines the rules; nil if the field is dropped.
  init?(_ source: FieldSchema, _ rules: [MigrationMapping.Rule], in schema: ModelSchema) throws {
    func contradiction(_ reason: String) -> PersistenceError {
      PersistenceError(
        .invalidRequest, "the rules for “\(source.name)” of \(schema.name) contradict each other: \(reason)",
        model: schema.name, field: source.name)
    }
    var (name, kind, dates, filling): (String?, FieldKind?, [DateFormat], String?) = (nil, nil, [], nil)
    var isDropped = false
    for rule in rules {
      switch rule.action {
      case .drop:
        guard rules.count == 1 else { throw contradiction("drop excludes other rules") }
        isDropped = true
      case .rename(let new):
        guard name == nil else { throw contradiction("it is renamed twice") }
        name = new
      case .convert(let new, let forms):
        guard kind == nil else { throw contradiction("it is converted twice") }
        guard forms.isEmpty || new == .date else { throw contradiction("only dates have formats") }
        (kind, dates) = (new, forms)
      case .fill(let value):
        guard filling == nil else { throw contradiction("it has two defaults") }
        guard source.isOptional else { throw contradiction("it has a default but is never nil") }
        filling = value
      }
    }
    if isDropped { return nil }
    let target = kind ?? source.kind
    if target == .date, source.kind != .date, dates.isEmpty {
      throw contradiction(
        "the date format is missing; write as:date(iso8601), as:date(unix) or another format")
    }
    if source.kind == .date, !dates.isEmpty { throw contradiction("its values are already dates") }
    if [.bool, .data, .uuid].contains(source.kind), !dates.isEmpty {
      throw contradiction("its values are neither text nor numbers")
    }
    field = FieldSchema(name ?? source.name, target, isOptional: source.isOptional && filling == nil)
    conversion = target == source.kind ? nil : ValueConversion(kind: target, dates: dates)
    defaultValue = try filling.map { text in
      guard let value = Self.value(text, target) else {
        throw contradiction("the default “\(text)” is not a valid \(target.rawValue)")
      }
      return value
    }
  }

  /// Parses a default, in the format of CSV fields.
  private static func value(_ text: String, _ kind: FieldKind) -> PersistentValue? {
    switch kind {
    case .data, .document, .date: return ValueReader.lenient.value(ofText: text, kind)
    default:
      guard case .exact(let value) = ValueConversion(kind: kind).convert(.text(text)) else { return nil }
      return value
    }
  }
}
