import PersistencePrimitives

/// One stored field of a model.
public struct FieldSchema: Sendable, Hashable, Codable {
  /// The stored name of the field.
  public var name: String

  /// The kind of the values.
  public var kind: FieldKind

  /// Whether values may be nil.
  public var isOptional: Bool

  /// Creates a field.
  public init(_ name: String, _ kind: FieldKind, isOptional: Bool = false) {
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
  }

  /// Whether two fields have the same name, kind and optionality; names are compared by their bytes.
  public static func == (left: FieldSchema, right: FieldSchema) -> Bool {
    StoredName(left.name) == StoredName(right.name) && left.kind == right.kind
      && left.isOptional == right.isOptional
  }

  /// Hashes the name, kind and optionality.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(StoredName(name))
    hasher.combine(kind)
    hasher.combine(isOptional)
  }
}

extension FieldSchema: CustomStringConvertible {
  /// The field as text, such as `rating: string?`.
  public var description: String { "\(name): \(kind.rawValue)\(isOptional ? "?" : "")" }
}

/// A secondary index over one or more fields, in order.
///
/// Each entry ends with the primary key, so that an index supports the total order of contract O2.
public struct IndexSchema: Sendable, Hashable, Codable {
  /// The stored names of the indexed fields, in order.
  public var fields: [String]

  /// Whether the values of each record must be unique; nil never collides (contract W4).
  public var isUnique: Bool

  /// Creates an index.
  public init(_ fields: [String], isUnique: Bool = false) {
    self.fields = fields
    self.isUnique = isUnique
  }

  /// Whether two indexes have the same fields and uniqueness; names are compared by their bytes.
  public static func == (left: IndexSchema, right: IndexSchema) -> Bool {
    left.isUnique == right.isUnique && left.fields.map(StoredName.init) == right.fields.map(StoredName.init)
  }

  /// Hashes the fields and the uniqueness.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(isUnique)
    for field in fields { hasher.combine(StoredName(field)) }
  }
}

extension IndexSchema: CustomStringConvertible {
  /// The index as text, such as `unique (imdbID)`.
  public var description: String {
    (isUnique ? "unique " : "") + "(" + fields.joined(separator: ", ") + ")"
  }
}
