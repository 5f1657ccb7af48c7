import PersistencePrimitives

/// One criterion of an order: a field and a direction; nil comes first ascending, last descending (O3).
public struct FieldOrder: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The stored name of the field.
  public var field: String

  /// Whether greater values come first.
  public var isDescending: Bool

  /// Makes a criterion.
  public init(_ field: String, isDescending: Bool = false) {
    self.field = field
    self.isDescending = isDescending
  }

  /// Whether two criteria name the same field, byte for byte, in the same direction.
  public static func == (left: FieldOrder, right: FieldOrder) -> Bool {
    left.isDescending == right.isDescending && StoredName(left.field) == StoredName(right.field)
  }

  /// Feeds field and direction into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(StoredName(field))
    hasher.combine(isDescending)
  }

  /// The criterion as the command line writes it, such as `-budget`.
  public var description: String { (isDescending ? "-" : "") + field }
}
