import PersistencePrimitives

/// What a model looks like to a store: its name, fields, primary key and indexes.
///
/// Schemas compare by what they say. A field's position in ``fields`` is its position in every ``Row`` that is
/// written or read with this schema. Copies share their storage, so passing a schema around costs a reference.
public struct ModelSchema: Sendable {
  private let storage: Storage

  /// Makes a schema, refusing one that no store could keep.
  ///
  /// - Parameters:
  ///   - name: The model's name, any text (contract E6).
  ///   - fields: The stored fields, in the order of their positions.
  ///   - key: The names of the primary key's fields, in order.
  ///   - indexes: Secondary indexes.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidSchema`` where there is no key, a
  ///   name stands twice, a key field is optional or of a kind that contract O1 does not allow, or an index
  ///   names no field, a field that does not exist, or a document.
  public init(name: String, fields: [FieldSchema], key: [String], indexes: [IndexSchema] = []) throws {
    var positions: [StoredName: Int] = [:]
    for (position, field) in fields.enumerated() {
      guard positions.updateValue(position, forKey: StoredName(field.name)) == nil else {
        throw PersistenceError.invalidSchema(name, "two fields are both stored as “\(field.name)”")
      }
    }
    func position(of field: String, in what: String) throws -> Int {
      guard let position = positions[StoredName(field)] else {
        throw PersistenceError.invalidSchema(name, "\(what) names “\(field)”, which is no field")
      }
      return position
    }
    guard !key.isEmpty else { throw PersistenceError.invalidSchema(name, "it has no primary key") }
    let keyPositions = try key.map { try position(of: $0, in: "the primary key") }
    guard Set(keyPositions).count == key.count else {
      throw PersistenceError.invalidSchema(name, "its primary key names a field twice")
    }
    for position in keyPositions {
      let field = fields[position]
      guard field.kind.isKey, !field.isOptional else {
        throw PersistenceError.invalidSchema(
          name, "“\(field.name)” cannot be a key: keys are Int, Int64, String or UUID, and never nil")
      }
    }
    for index in indexes {
      guard !index.fields.isEmpty else {
        throw PersistenceError.invalidSchema(name, "an index has no fields")
      }
      guard Set(index.fields.map(StoredName.init)).count == index.fields.count else {
        throw PersistenceError.invalidSchema(name, "an index names a field twice")
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

  /// The stored fields; a field's position here is its position in rows.
  public var fields: [FieldSchema] { storage.fields }

  /// The names of the primary key's fields, in order.
  public var key: [String] { storage.key }

  /// The positions of the primary key's fields, in the key's order.
  public var keyPositions: [Int] { storage.keyPositions }

  /// The secondary indexes.
  public var indexes: [IndexSchema] { storage.indexes }

  /// The position of a field, found by its stored name; nil where there is none.
  public func position(of field: String) -> Int? { storage.positions[StoredName(field)] }

  /// The field of that stored name; nil where there is none.
  public func field(named name: String) -> FieldSchema? { position(of: name).map { fields[$0] } }

  /// The kind of the key's values where one field is the key; nil for compound keys.
  ///
  /// A number of its own: whoever looks a record up need not hold the lists, which all threads have in common.
  var soleKeyTag: RowCell.Tag? { storage.soleKeyTag }

  /// What cells each field takes, by position.
  var cellRules: [CellRule] { storage.cellRules }

  /// Something that is equal for copies of one schema: a cheap key for an engine's caches.
  ///
  /// Two schemas made apart may be equal and have different identities. A cache that uses an identity keeps the
  /// schema too, so that its identity is not given to another.
  public var identity: ObjectIdentifier { ObjectIdentifier(storage) }

  private final class Storage: Sendable {
    let name: String
    let fields: [FieldSchema]
    let key: [String]
    let keyPositions: [Int]
    let indexes: [IndexSchema]
    let positions: [StoredName: Int]
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
      self.indexes = indexes
      self.positions = positions
      cellRules = fields.map(CellRule.init)
      soleKeyTag = keyPositions.count == 1 ? fields[keyPositions[0]].kind.tag : nil
    }
  }
}

extension ModelSchema: Hashable {
  /// Whether two schemas say the same.
  public static func == (left: ModelSchema, right: ModelSchema) -> Bool {
    left.storage === right.storage
      || (StoredName(left.name) == StoredName(right.name) && left.fields == right.fields
        && left.key.map(StoredName.init) == right.key.map(StoredName.init) && left.indexes == right.indexes)
  }

  /// Feeds the name and the names of the fields into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(StoredName(name))
    for field in fields { hasher.combine(field) }
  }
}

extension ModelSchema: Codable {
  private enum CodingKeys: String, CodingKey { case name, fields, key, indexes }

  /// Decodes a schema, checking it as ``init(name:fields:key:indexes:)`` does.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      name: container.decode(String.self, forKey: .name),
      fields: container.decode([FieldSchema].self, forKey: .fields),
      key: container.decode([String].self, forKey: .key),
      indexes: container.decode([IndexSchema].self, forKey: .indexes))
  }

  /// Encodes what the schema says.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(fields, forKey: .fields)
    try container.encode(key, forKey: .key)
    try container.encode(indexes, forKey: .indexes)
  }
}

extension ModelSchema: CustomStringConvertible {
  /// The declaration in words, such as `Movie(id: uuid key, title: string, rating: string?)`.
  public var description: String {
    let list = fields.map { field in
      "\(field)" + (key.contains { StoredName($0) == StoredName(field.name) } ? " key" : "")
    }
    return "\(name)(\(list.joined(separator: ", ")))"
  }
}
