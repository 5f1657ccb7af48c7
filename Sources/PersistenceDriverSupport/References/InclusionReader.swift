package import PersistenceDriver
import PersistencePrimitives

/// Reads what inclusions add to the rows of a page: one request for each inclusion, level and thousand keys.
///
/// Note the rows first, and then read. Each included record is read for each inclusion, and given once.
package struct InclusionReader {
  /// One inclusion, with the keys of the rows that were noted for it.
  private struct Level {
    let inclusion: RelatedInclusion
    let ends: RelationEnds
    /// The model of the included records.
    let other: ModelSchema
    /// The position of the key or the reference in the rows that it belongs to.
    let position: Int
    var keys: Set<PersistentValue> = []
  }

  private let reader: any StorageReader
  private let answers: RelationAnswers
  private let relations: StoredRelations
  private var levels: [Level]

  /// Creates a reader of what belongs to records of a model.
  ///
  /// - Parameters:
  ///   - inclusions: What belongs to them; of models that the store does not contain, nothing does.
  ///   - schema: The model.
  ///   - reader: Reads the moment of the page.
  ///   - declared: The schemas as a client declares them; others are those of the store.
  ///   - keyLimit: The maximum number of keys that a condition on related records may find.
  /// - Throws: ``PersistenceError`` if a field is no reference between the models.
  package init(
    _ inclusions: [RelatedInclusion], of schema: ModelSchema, _ reader: any StorageReader,
    declared: [ModelSchema] = [], keyLimit: Int = .max
  ) throws {
    self.reader = reader
    answers = RelationAnswers(reader, declared: declared, keyLimit: keyLimit)
    relations = StoredRelations(reader, declared: declared)
    levels = try Self.levels(inclusions, of: schema, relations)
  }

  private static func levels(
    _ inclusions: [RelatedInclusion], of schema: ModelSchema, _ relations: StoredRelations
  ) throws -> [Level] {
    try inclusions.compactMap { inclusion in
      guard let other = try relations.model(named: inclusion.model) else { return nil }
      let ends = try RelationEnds(inclusion.side, field: inclusion.field, of: schema, other)
      let name = inclusion.side == .target ? ends.field.name : ends.key.name
      return Level(
        inclusion: inclusion, ends: ends, other: other, position: try schema.requiredPosition(of: name))
    }
  }

  /// The positions of the values that ``note(_:)`` takes.
  package var positions: [Int] { levels.map(\.position) }

  /// Notes the values of a row, one for each of ``positions``.
  package mutating func note(_ values: [PersistentValue]) {
    for (index, value) in values.enumerated() where !value.isNull { levels[index].keys.insert(value) }
  }

  /// Forgets the noted rows.
  package mutating func forget() {
    for index in levels.indices { levels[index].keys = [] }
  }

  /// Gives the records that belong to the noted rows, and those that belong to them.
  ///
  /// - Parameter body: Takes each record with its model.
  /// - Throws: ``PersistenceError``, and what the closure throws.
  package func read(_ body: (ModelSchema, borrowing Row) throws -> Void) throws {
    var seen: [StoredName: Set<RecordKey>] = [:]
    try read(levels, &seen, body)
  }

  private func read(
    _ levels: [Level], _ seen: inout [StoredName: Set<RecordKey>],
    _ body: (ModelSchema, borrowing Row) throws -> Void
  ) throws {
    for level in levels where !level.keys.isEmpty {
      var nested = try Self.levels(level.inclusion.nested, of: level.other, relations)
      let name = StoredName(level.other.name)
      for rows in try requests(of: level) {
        _ = try reader.fetch(rows).read(from: 0, limit: Int.max) { row in
          for index in nested.indices {
            let value = try row.value(at: nested[index].position)
            if !value.isNull { nested[index].keys.insert(value) }
          }
          if try seen[name, default: []].insert(RecordKey(of: row, in: level.other)).inserted {
            try body(level.other, row)
          }
        }
      }
      try read(nested, &seen, body)
    }
  }

  private func requests(of level: Level) throws -> [FetchRequest] {
    let condition = try level.inclusion.condition.map { try answers.answer($0, on: level.other) }
    let name = level.inclusion.side == .target ? level.ends.key.name : level.ends.field.name
    return try level.keys.sorted().chunks(of: KeepingTransaction.chunk).map { keys in
      let related = PredicateNode.isIn(field: name, Array(keys))
      return try FetchRequest(level.other, where: condition.map { .conjunction(related, $0) } ?? related)
    }
  }
}
