public import PersistenceDriver

/// The direction of a sort criterion.
public enum SortDirection: String, Sendable, Hashable, Codable {
  /// Smaller values first, nil before all of them.
  case ascending
  /// Greater values first, nil after all of them.
  case descending
}

/// One criterion of a sort order: a stored property and a direction.
public struct SortCriterion<Model: PersistentModel>: Sendable, Hashable, Codable {
  /// The criterion in the form that contexts use.
  public let fieldOrder: FieldOrder

  /// Creates a criterion from a stored name.
  public init(fieldOrder: FieldOrder) { self.fieldOrder = fieldOrder }
}

extension SortCriterion where Model: PersistentFields {
  /// Creates a criterion.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - order: The direction; ascending by default.
  public init<Value: PersistentValueConvertible>(
    _ property: KeyPath<Model, Value>, order: SortDirection = .ascending
  ) {
    fieldOrder = FieldOrder(Model.name(of: property), isDescending: order == .descending)
  }

  /// Creates a criterion over a property of a raw-representable `Codable` type, which is stored as its raw value.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - order: The direction; ascending by default.
  @_disfavoredOverload
  public init<Value: RawRepresentable & Codable>(
    _ property: KeyPath<Model, Value>, order: SortDirection = .ascending
  ) where Value.RawValue: PersistentValueConvertible {
    fieldOrder = FieldOrder(Model.name(of: property), isDescending: order == .descending)
  }

  /// Creates a criterion over an optional property of a raw-representable `Codable` type.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - order: The direction; ascending by default.
  @_disfavoredOverload
  public init<Value: RawRepresentable & Codable>(
    _ property: KeyPath<Model, Value?>, order: SortDirection = .ascending
  ) where Value.RawValue: PersistentValueConvertible {
    fieldOrder = FieldOrder(Model.name(of: property), isDescending: order == .descending)
  }
}
