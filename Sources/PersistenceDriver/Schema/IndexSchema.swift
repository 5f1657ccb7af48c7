import PersistencePrimitives

/// A secondary index over one field or several, in a stated order.
///
/// Entries are followed by the primary key, so that an index serves the total order of contract O2.
public struct IndexSchema: Sendable, Hashable, Codable {
  /// The stored names of the indexed fields, in order.
  public var fields: [String]

  /// Whether two records may not have the same values; nil never collides (contract W4).
  public var isUnique: Bool

  /// Makes an index.
  public init(_ fields: [String], isUnique: Bool = false) {
    self.fields = fields
    self.isUnique = isUnique
  }

  /// Whether two indexes are over the same fields, byte for byte, and alike in uniqueness.
  public static func == (left: IndexSchema, right: IndexSchema) -> Bool {
    left.isUnique == right.isUnique && left.fields.map(StoredName.init) == right.fields.map(StoredName.init)
  }

  /// Feeds fields and uniqueness into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(isUnique)
    for field in fields { hasher.combine(StoredName(field)) }
  }
}

extension IndexSchema: CustomStringConvertible {
  /// The index in words, such as `unique (imdbID)`.
  public var description: String {
    (isUnique ? "unique " : "") + "(" + fields.joined(separator: ", ") + ")"
  }
}
