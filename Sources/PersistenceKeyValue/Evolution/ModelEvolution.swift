import PersistenceDriver

/// The stored form of a model whose schema has changed: the revisions of its rows, and the numbers of its indexes.
///
/// Other models have rows of revision 1, and the position of an index is its number.
final class ModelEvolution: Sendable {
  /// The revision of rows that are written now.
  let revision: UInt16
  /// The earlier revisions of rows that may exist: consecutive numbers that end before ``revision``.
  let earlier: [RowRevision]
  /// The number of each index, which its keys contain, by position in the schema.
  let indexNumbers: [Int]
  /// The numbers of the indexes that are not built yet, ascending: writes maintain them, and nothing reads them.
  let waiting: [Int]
  /// The number with which the keys of the records begin, if a change has copied them; nil if it is the model's.
  let recordsNumber: UInt16?

  init(
    revision: UInt16, earlier: [RowRevision], indexNumbers: [Int], waiting: [Int] = [], recordsNumber: UInt16?
  ) {
    self.revision = revision
    self.earlier = earlier
    self.indexNumbers = indexNumbers
    self.waiting = waiting
    self.recordsNumber = recordsNumber
  }
}

/// The form of rows that were written before a change of schema, and the current fields in terms of it.
struct RowRevision: Sendable {
  /// The form of a field in a row.
  struct Field: Sendable {
    let kind: FieldKind
    let isOptional: Bool
  }

  /// The fields of the rows, in order.
  let fields: [Field]
  /// The source of each current field, by position in the model's schema: a position in ``fields``, or a fill.
  let sources: [SchemaChange.Source]

  /// The revision in terms of the fields after a further change.
  func applying(_ change: [SchemaChange.Source]) -> RowRevision {
    let composed = change.map { source -> SchemaChange.Source in
      guard case .field(let position, let replacement) = source else { return source }
      switch sources[position] {
      case .field(let origin, let earlier): return .field(origin, replacingNil: earlier ?? replacement)
      case .fill(let value): return .fill(value.isNull ? replacement ?? .null : value)
      case .computed: return .computed
      }
    }
    return RowRevision(fields: fields, sources: composed)
  }
}

extension RowRevision.Field {
  init(_ field: FieldSchema) { self.init(kind: field.kind, isOptional: field.isOptional) }
}

extension ModelEvolution {
  /// The values of the catalog record, in which each list follows its length.
  var values: [PersistentValue] {
    var values: [PersistentValue] = [.integer(Int64(revision)), .integer(Int64(indexNumbers.count))]
    values += indexNumbers.map { .integer(Int64($0)) }
    values.append(.integer(Int64(earlier.count)))
    for revision in earlier {
      values.append(.integer(Int64(revision.fields.count)))
      for field in revision.fields { values += [.text(field.kind.rawValue), .bool(field.isOptional)] }
      for source in revision.sources {
        switch source {
        case .field(let position, let replacement):
          values += [.integer(Int64(position)), replacement ?? .null]
        case .fill(let value): values += [.integer(-1), value]
        case .computed: values += [.integer(-1), .null]
        }
      }
    }
    if !waiting.isEmpty || recordsNumber != nil {
      values += ([waiting.count] + waiting).map { .integer(Int64($0)) }
    }
    if let recordsNumber { values.append(.integer(Int64(recordsNumber))) }
    return values
  }

  /// Decodes the values of a catalog record for a model with this schema.
  convenience init(
    _ reader: inout StoredModel.ValueRun, _ schema: ModelSchema, hasWaitingIndexes: Bool,
    hasCopiedRecords: Bool
  ) throws {
    let revision = try reader.number()
    let numbers = try reader.indexNumbers()
    let earlier = try (0..<reader.count()).map { _ in
      let fields = try (0..<reader.count()).map { _ in
        RowRevision.Field(kind: try reader.kind(), isOptional: try reader.bool())
      }
      let sources = try schema.fields.map { _ -> SchemaChange.Source in
        let (position, value) = (try reader.integer(), try reader.value())
        if position == -1 { return .fill(value) }
        guard let position = Int(exactly: position), fields.indices.contains(position) else {
          throw StoredModel.malformed
        }
        return .field(position, replacingNil: value.isNull ? nil : value)
      }
      return RowRevision(fields: fields, sources: sources)
    }
    guard earlier.count < Int(revision), numbers.count == schema.indexes.count,
      Set(numbers).count == numbers.count
    else { throw StoredModel.malformed }
    let waiting = hasWaitingIndexes ? try reader.indexNumbers() : []
    guard Set(waiting).isSubset(of: numbers) else { throw StoredModel.malformed }
    self.init(
      revision: revision, earlier: earlier, indexNumbers: numbers, waiting: waiting,
      recordsNumber: hasCopiedRecords ? try reader.number() : nil)
  }
}

extension StoredModel.ValueRun {
  /// A revision of rows, or a number of records.
  fileprivate mutating func number() throws -> UInt16 {
    guard let number = UInt16(exactly: try integer()) else { throw StoredModel.malformed }
    return number
  }

  /// A list of the numbers of indexes.
  fileprivate mutating func indexNumbers() throws -> [Int] {
    try (0..<count()).map { _ in
      guard let number = Int(exactly: try integer()), 0..<StoredModel.indexLimit ~= number else {
        throw StoredModel.malformed
      }
      return number
    }
  }
}
