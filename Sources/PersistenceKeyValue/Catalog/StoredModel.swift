package import PersistenceDriver

/// A model in the catalog: its schema, and the number that represents it in every key.
///
/// Names of models are therefore data, never keys (contract E6).
package struct StoredModel: Sendable {
  /// The prefix of the model's index entries, and of its records unless a change has copied them, as two big-endian
  /// bytes.
  package let number: UInt16
  package let schema: ModelSchema
  /// The state of the model's indexes.
  package var indexing = Indexing.built
  /// The revisions of rows and the numbers of indexes, if the schema has changed since it was defined.
  var evolution: ModelEvolution?

  /// The state of a model's indexes; queries use only built ones.
  package enum Indexing: Hashable, Sendable {
    /// The indexes contain an entry for each record.
    case built
    /// The indexes are empty.
    case awaited
    /// A build with this number is in progress: the indexes contain its first entries, in order.
    case begun(Int64)
  }
}

extension StoredModel {
  private static let revision: Int64 = 2
  /// The revision of a model whose indexes are not built; its record ends with their state.
  private static let unindexedRevision: Int64 = 3
  /// The revision of a model whose schema has changed; its record ends with the state of its indexes and its
  /// ``ModelEvolution``.
  private static let evolvedRevision: Int64 = 4
  /// The revision of such a model with indexes that wait to be built, which must not be read.
  private static let waitingRevision: Int64 = 5
  /// The revision of such a model whose records have a number of their own; it has the list of waiting indexes, too.
  private static let copiedRevision: Int64 = 6
  private static let knownRevisions = [
    revision, unindexedRevision, evolvedRevision, waitingRevision, copiedRevision,
  ]

  /// The largest number of indexes of a model: one byte of a key identifies an index.
  static let indexLimit = 200

  /// The indexes that no request may read yet.
  var unbuiltIndexes: [IndexSchema] {
    guard indexing == .built else { return schema.indexes }
    guard let evolution, !evolution.waiting.isEmpty else { return [] }
    return zip(schema.indexes, evolution.indexNumbers).compactMap {
      evolution.waiting.contains($1) ? $0 : nil
    }
  }

  /// The prefix of the keys of all records.
  var recordsPrefix: [UInt8] { KeyPrefix.model(evolution?.recordsNumber ?? number) }

  static func key(_ number: UInt16) -> [UInt8] { Array("model".utf8) + KeyPrefix.model(number) }
  static func countKey(_ number: UInt16) -> [UInt8] { Array("count".utf8) + KeyPrefix.model(number) }

  /// The catalog record: a checksum, then the schema as a list of values in which each list follows its
  /// length.
  func encoded() throws -> [UInt8] {
    var values: [PersistentValue] = [
      .integer(recordRevision), .text(schema.name), .integer(Int64(schema.fields.count)),
    ]
    for field in schema.fields {
      values += [.text(field.name), .text(field.kind.rawValue), .bool(field.isOptional)]
    }
    values += Self.list(schema.key)
    values.append(.integer(Int64(schema.indexes.count)))
    for index in schema.indexes { values += [.bool(index.isUnique)] + Self.list(index.fields) }
    switch indexing {
    case .built: if evolution != nil { values.append(.integer(-1)) }
    case .awaited: values.append(.integer(0))
    case .begun(let token): values.append(.integer(token))
    }
    values += evolution?.values ?? []
    let bytes = try KeyCodec.bytes(of: values)
    return withUnsafeBytes(of: PackedRow.checksum(of: bytes).littleEndian) { Array($0) } + bytes
  }

  private var recordRevision: Int64 {
    guard let evolution else { return indexing == .built ? Self.revision : Self.unindexedRevision }
    if evolution.recordsNumber != nil { return Self.copiedRevision }
    return evolution.waiting.isEmpty ? Self.evolvedRevision : Self.waitingRevision
  }

  private static func list(_ names: [String]) -> [PersistentValue] {
    [.integer(Int64(names.count))] + names.map(PersistentValue.text)
  }

  init(number: UInt16, encoded: UnsafeRawBufferPointer) throws {
    self.number = number
    var reader = ValueRun(try KeyCodec.values(in: Self.checked(encoded)))
    let (revision, name) = try Self.head(&reader)
    let fields = try (0..<reader.count()).map { _ in
      FieldSchema(try reader.text(), try reader.kind(), isOptional: try reader.bool())
    }
    let key = try reader.texts()
    let indexes = try (0..<reader.count()).map { _ in
      let isUnique = try reader.bool()
      return IndexSchema(try reader.texts(), isUnique: isUnique)
    }
    schema = try ModelSchema(name: name, fields: fields, key: key, indexes: indexes)
    if revision != Self.revision {
      let token = try reader.integer()
      indexing = token == 0 ? .awaited : token < 0 ? .built : .begun(token)
    }
    if revision >= Self.evolvedRevision {
      evolution = try ModelEvolution(
        &reader, schema, hasWaitingIndexes: revision >= Self.waitingRevision,
        hasCopiedRecords: revision == Self.copiedRevision)
    }
  }

  /// The name in a catalog record; decodes nothing else.
  static func name(encoded: UnsafeRawBufferPointer) throws -> String {
    var head = ValueRun(try KeyCodec.values(in: checked(encoded), limit: 2))
    return try Self.head(&head).name
  }

  /// The values of a catalog record after its checksum, which is verified.
  static func checked(_ encoded: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
    guard encoded.count > 4 else { throw malformed }
    let values = UnsafeRawBufferPointer(rebasing: encoded[4...])
    guard encoded.loadUnaligned(as: UInt32.self).littleEndian == PackedRow.checksum(of: values) else {
      throw malformed
    }
    return values
  }

  private static func head(_ reader: inout ValueRun) throws -> (revision: Int64, name: String) {
    let revision = try reader.integer()
    try require(revision)
    return (revision, try reader.text())
  }

  /// Throws unless this version of the package can read a revision of records.
  private static func require(_ revision: Int64) throws {
    guard knownRevisions.contains(revision) else {
      throw PersistenceError.damaged("a schema in the catalog has the unknown revision \(revision)")
    }
  }

  /// Whether the values of a record are those of the model with a name; decodes no text.
  static func isNamed(_ name: String, _ values: UnsafeRawBufferPointer) throws -> Bool {
    var run = EncodedValues(values)
    try require(run.integer())
    return try run.isText(name)
  }

  /// Whether the values of a record are those of a schema, in its order, with built indexes, and without a history.
  static func isUnchanged(_ schema: ModelSchema, _ values: UnsafeRawBufferPointer) throws -> Bool {
    var run = EncodedValues(values)
    guard try run.integer() == revision, try run.isText(schema.name),
      try run.integer() == Int64(schema.fields.count)
    else { return false }
    for field in schema.fields {
      guard try run.isText(field.name), try run.isText(field.kind.rawValue),
        try run.bool() == field.isOptional
      else { return false }
    }
    guard try run.areTexts(schema.key), try run.integer() == Int64(schema.indexes.count) else { return false }
    for index in schema.indexes {
      guard try run.bool() == index.isUnique, try run.areTexts(index.fields) else { return false }
    }
    return run.isAtEnd
  }

  static var malformed: PersistenceError { .damaged("a schema in the catalog cannot be decoded") }

  /// A decoder of consecutive values.
  struct ValueRun {
    private let values: [PersistentValue]
    private var next = 0

    init(_ values: [PersistentValue]) { self.values = values }

    mutating func value() throws -> PersistentValue {
      guard next < values.count else { throw malformed }
      defer { next += 1 }
      return values[next]
    }

    mutating func integer() throws -> Int64 {
      guard case .integer(let value) = try value() else { throw malformed }
      return value
    }

    mutating func text() throws -> String {
      guard case .text(let value) = try value() else { throw malformed }
      return value
    }

    mutating func bool() throws -> Bool {
      guard case .bool(let value) = try value() else { throw malformed }
      return value
    }

    mutating func kind() throws -> FieldKind {
      guard let kind = FieldKind(rawValue: try text()) else { throw malformed }
      return kind
    }

    /// The length of a list, at most the number of remaining values.
    mutating func count() throws -> Int {
      guard let count = Int(exactly: try integer()), count >= 0, count <= values.count - next else {
        throw malformed
      }
      return count
    }

    mutating func texts() throws -> [String] { try (0..<count()).map { _ in try text() } }
  }
}

enum KeyPrefix {
  static func model(_ number: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
  }

  static func index(_ number: UInt16, _ index: Int) -> [UInt8] {
    model(number) + [UInt8(truncatingIfNeeded: index + 1)]
  }
}
