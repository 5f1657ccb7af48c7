public import PersistenceDriver

/// A secondary index of a record type, over one property or several.
public struct RecordIndex<Model>: Sendable {
  let keyPaths: [SendablePartialKeyPath<Model>]
  let isUnique: Bool

  /// Declares an index.
  ///
  /// - Parameters:
  ///   - keyPaths: The indexed properties, in order.
  ///   - isUnique: Whether two records may not have the same values; nil never collides (contract W4).
  public init(_ keyPaths: [SendablePartialKeyPath<Model>], isUnique: Bool = false) {
    self.keyPaths = keyPaths
    self.isUnique = isUnique
  }

  /// Declares an index over properties whose types have an order, which the compiler checks.
  ///
  /// - Parameters:
  ///   - properties: The indexed properties, in order.
  ///   - isUnique: Whether two records may not have the same values; nil never collides (contract W4).
  public init<each Value: PersistentValueConvertible>(
    _ properties: repeat SendableKeyPath<Model, each Value>, isUnique: Bool = false
  ) {
    var keyPaths: [SendablePartialKeyPath<Model>] = []
    repeat keyPaths.append(each properties)
    self.keyPaths = keyPaths
    self.isUnique = isUnique
  }
}
