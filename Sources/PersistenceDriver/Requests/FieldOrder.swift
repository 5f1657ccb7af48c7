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

  /// The criterion as the command line writes it, such as `-budget`.
  public var description: String { (isDescending ? "-" : "") + field }
}
