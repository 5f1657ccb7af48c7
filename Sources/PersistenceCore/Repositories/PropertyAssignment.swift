public import PersistenceDriver

/// A value that a property of many records is set to: `.set(\.rating, to: .pg)`.
public struct PropertyAssignment<Model: PersistentRecord>: Sendable, Hashable {
  /// The assignment as contexts see it.
  public let fieldAssignment: FieldAssignment

  /// Sets a property to a value.
  ///
  /// - Parameters:
  ///   - property: A stored property that is not part of the primary key.
  ///   - value: The value.
  /// - Returns: The assignment.
  public static func set<Value: PersistentValueConvertible>(
    _ property: SendableKeyPath<Model, Value>, to value: Value
  ) -> PropertyAssignment {
    PropertyAssignment(fieldAssignment: FieldAssignment(Model.name(of: property), value.persistentValue))
  }
}
