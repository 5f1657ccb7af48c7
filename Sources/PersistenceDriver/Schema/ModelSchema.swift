import PersistencePrimitives

/// The schema of a model: its name, fields, primary key and indexes.
///
/// Schemas are equal if their contents are. A field's position in ``fields`` is its position in each ``Row`` that is
/// written or read with the schema. Copies share their storage, so a copy costs one reference count.
public struct ModelSchema: Sendable {
  private let storage: Storage

  /// Creates and validates a schema.
  ///
  /// - Parameters:
  ///   - name: The model's name, any text (contract E6).
  ///   - fields: The stored fields, ordered by position.
  ///   - key: The names of the primary key fields, in order.
  ///   - indexes: Secondary indexes.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidSchema`` if there is no key, a name
  ///   occurs twice, a key field is optional or has a kind that contract O1 does not allow, or an index has no fields,
  ///   an unknown field, or a document.
  public init(name: String, fields: [FieldSchema], key: [String], indexes: [IndexSchema] = []) throws {
    var positions: [StoredName: Int] = [:]
    for (position, field) in fields.enumerated() {
      guard positions.updateValue(position, forKey: StoredName(field.name)) == nil else {
        throw PersistenceError.invalidSchema(name, "two fields have the stored name “\(field.name)”")
      }
    }
    func position(of field: String, in what: String) throws -> Int {
      guard let position = positions[StoredName(field)] else {
        throw PersistenceError.invalidSchema(name, "\(what) contains “\(field)”, which is not a field")
      }
      return position
    }
    guard !key.isEmpty else { throw PersistenceError.invalidSchema(name, "it has no primary key") }
    let keyPositions = try key.map { try position(of: $0, in: "the primary key") }
    guard Set(keyPositions).count == key.count else {
      throw PersistenceError.invalidSchema(name, "its primary key contains a field twice")
    }
    for position in keyPositions {
      let field = fields[position]
      guard field.kind.isKey, !field.isOptional else {
        throw PersistenceError.invalidSchema(
          name, "“\(field.name)” cannot be a key; use a non-optional Int, Int64, String or UUID")
      }
    }
    for index in indexes {
      guard !index.fields.isEmpty else {
        throw PersistenceError.invalidSchema(name, "an index has no fields")
      }
      guard Set(index.fields.map(StoredName.init)).count == index.fields.count else {
        throw PersistenceError.invalidSchema(name, "an index contains a field twice")
      }
      for field in index.fields {
        guard fields[try position(of: field, in: "an index")].kind.isOrdered else {
          throw PersistenceError.invalidSchema(name, "“\(field)” is a document, which cannot be indexed")
        }
      }
    }
    storage = Storage(
      name: name, fields: fields, key: key, keyPositions: keyPositions, indexes: indexes, positions: positions
    )
  }

  /// The model's name.
  public var name: String { storage.name }

  /// The stored fields, in the order of rows.
  public var fields: [FieldSchema] { storage.fields }

  /// The names of the primary key's fields, in order.
  public var key: [String] { storage.key }

  /// The positions of the primary key's fields, in the key's order.
  public var keyPositions: [Int] { storage.keyPositions }

  /// The secondary indexes.
  public var indexes: [IndexSchema] { storage.indexes }

  /// The position of the field with a stored name; nil if there is none.
  public func position(of field: String) -> Int? { storage.position(of: field) }

  /// The field with a stored name; nil if there is none.
  public func field(named name: String) -> FieldSchema? { position(of: name).map { fields[$0] } }

  /// The position of a field that a request names; throws ``PersistenceError/Code/unknownField`` if there is none.
  package func requiredPosition(of field: String) throws -> Int {
    guard let position = position(of: field) else { throw PersistenceError.unknownField(field, in: self) }
    return position
  }

  /// The field that a request names; throws ``PersistenceError/Code/unknownField`` if there is none.
  package func requiredField(named name: String) throws -> FieldSchema {
    fields[try requiredPosition(of: name)]
  }

  /// The tag of a single-field key; nil for compound keys.
  ///
  /// A stored tag avoids contended reference counts of the field lists on the lookup path.
  var soleKeyTag: RowCell.Tag? { storage.soleKeyTag }

  /// The order by ascending key, which requests without another order share.
  var keyOrder: [FieldOrder] { storage.keyOrder }

  /// The cells that each field accepts, by position.
  var cellRules: [CellRule] { storage.cellRules }

  /// An identity that copies of a schema share: a cheap key for an engine's caches.
  ///
  /// Equal schemas that were created separately have different identities. A cache with an identity as its key also
  /// keeps the schema, so that the identity is not reused.
  public var identity: ObjectIdentifier { ObjectIdentifier(storage) }

  private final class Storage: Sendable {
    let name: String
    let fields: [FieldSchema]
    let key: [String]
    let keyPositions: [Int]
    let keyOrder: [FieldOrder]
    let indexes: [IndexSchema]
    private let positions: [StoredName: Int]
    /// The sketches of the fields' names, by position; none if there are many.
    private let sketches: [UInt64]
    let cellRules: [CellRule]
    let soleKeyTag: RowCell.Tag?

    init(
      name: String, fields: [FieldSchema], key: [String], keyPositions: [Int], indexes: [IndexSchema],
      positions: [StoredName: Int]
    ) {
      self.name = name
      self.fields = fields
      self.key = key
      self.keyPositions = keyPositions
      keyOrder = key.map { FieldOrder($0) }
      self.indexes = indexes
      self.positions = positions
      let sketches = fields.count <= 16 ? fields.compactMap { Storage.sketch(of: $0.name) } : []
      self.sketches = sketches.count == fields.count ? sketches : []
      cellRules = fields.map(CellRule.init)
      soleKeyTag = keyPositions.count == 1 ? fields[keyPositions[0]].kind.tag : nil
    }

    func position(of field: String) -> Int? {
      // A request looks its fields up six times. Hashing a name takes longer than comparing a few numbers.
      guard !sketches.isEmpty, let sketch = Storage.sketch(of: field) else {
        return positions[StoredName(field)]
      }
      let name = StoredName(field)
      return sketches.indices.first { sketches[$0] == sketch && StoredName(fields[$0].name) == name }
    }

    /// The length and the first bytes of a name, which tell most names apart; nil if its bytes are elsewhere.
    private static func sketch(of name: String) -> UInt64? {
      name.utf8.withContiguousStorageIfAvailable { bytes in
        var sketch = UInt64(truncatingIfNeeded: bytes.count)
        for byte in bytes.prefix(7) { sketch = sketch << 8 | UInt64(byte) }
        return sketch
      }
    }
  }
}

extension ModelSchema: Hashable {
  /// Whether two schemas are equal; names are compared by their bytes.
  public static func == (left: ModelSchema, right: ModelSchema) -> Bool {
    left.storage === right.storage
      || (StoredName(left.name) == StoredName(right.name) && left.fields == right.fields
        && left.key.map(StoredName.init) == right.key.map(StoredName.init) && left.indexes == right.indexes)
  }

  /// Hashes the name and the fields.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(StoredName(name))
    for field in fields { hasher.combine(field) }
  }
}

extension ModelSchema: Codable {
  private enum CodingKeys: String, CodingKey { case name, fields, key, indexes }

  /// Decodes a schema, and validates it like ``init(name:fields:key:indexes:)``.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      name: container.decode(String.self, forKey: .name),
      fields: container.decode([FieldSchema].self, forKey: .fields),
      key: container.decode([String].self, forKey: .key),
      indexes: container.decode([IndexSchema].self, forKey: .indexes))
  }

  /// Encodes the schema.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(fields, forKey: .fields)
    try container.encode(key, forKey: .key)
    try container.encode(indexes, forKey: .indexes)
  }
}

extension ModelSchema: CustomStringConvertible {
  /// The schema as text, such as `Movie(id: uuid key, title: string, rating: string?)`.
  public var description: String {
    let list = fields.map { field in
      "\(field)" + (key.contains { StoredName($0) == StoredName(field.name) } ? " key" : "")
    }
    return "\(name)(\(list.joined(separator: ", ")))"
  }
}
