import PersistencePrimitives

/// One stored field of a model.
public struct FieldSchema: Sendable, Hashable, Codable {
  /// The name that stores know the field by.
  public var name: String

  /// The kind of value that it holds.
  public var kind: FieldKind

  /// Whether it may be nil.
  public var isOptional: Bool

  /// Makes a field.
  public init(_ name: String, _ kind: FieldKind, isOptional: Bool = false) {
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
  }

  /// Whether two fields have the same name, byte for byte, kind and optionality.
  public static func == (left: FieldSchema, right: FieldSchema) -> Bool {
    StoredName(left.name) == StoredName(right.name) && left.kind == right.kind
      && left.isOptional == right.isOptional
  }

  /// Feeds name, kind and optionality into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(StoredName(name))
    hasher.combine(kind)
    hasher.combine(isOptional)
  }
}

extension FieldSchema: CustomStringConvertible {
  /// The field in words, such as `rating: string?`.
  public var description: String { "\(name): \(kind.rawValue)\(isOptional ? "?" : "")" }
}
