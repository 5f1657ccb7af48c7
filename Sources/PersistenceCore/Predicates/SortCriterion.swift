public import PersistenceDriver

/// The direction of a sort criterion.
public enum SortDirection: String, Sendable, Hashable, Codable {
  /// Smaller values first, nil before all of them.
  case ascending
  /// Greater values first, nil after all of them.
  case descending
}

/// One criterion of a sort order: a stored property and a direction.
public struct SortCriterion<Model: PersistentModel>: Sendable {
  /// The criterion in the form that contexts use.
  ///
  /// If the criterion is ``related``, no stored field has its name.
  public let fieldOrder: FieldOrder

  /// The field of a related record; nil for a field of the model itself.
  public private(set) var related: RelatedField?

  /// The target as the code declares it; nil if only its name is known.
  private(set) var target: (any PersistentRecord.Type)?

  /// Creates a criterion from a stored name.
  public init(fieldOrder: FieldOrder) { self.fieldOrder = fieldOrder }

  /// Creates a criterion from the names of a reference, its target and a field of the target.
  public init(related: RelatedField, isDescending: Bool = false) {
    fieldOrder = FieldOrder(related.path, isDescending: isDescending)
    self.related = related
  }
}

extension SortCriterion: Hashable {
  /// Whether two criteria are the same.
  public static func == (left: SortCriterion, right: SortCriterion) -> Bool {
    left.fieldOrder == right.fieldOrder && left.related == right.related
  }

  /// Hashes the criterion.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(fieldOrder)
    hasher.combine(related)
  }
}

extension SortCriterion: Codable {
  private enum CodingKeys: String, CodingKey { case fieldOrder, related }

  /// Decodes a criterion.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    fieldOrder = try container.decode(FieldOrder.self, forKey: .fieldOrder)
    related = try container.decodeIfPresent(RelatedField.self, forKey: .related)
  }

  /// Encodes the criterion.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(fieldOrder, forKey: .fieldOrder)
    try container.encodeIfPresent(related, forKey: .related)
  }
}

extension SortCriterion {
  /// The criterion with the target of its reference.
  init(related: RelatedField, of target: any PersistentRecord.Type, isDescending: Bool) {
    self.init(related: related, isDescending: isDescending)
    self.target = target
  }

  /// The criterion in the other direction.
  var reversed: SortCriterion {
    let order = FieldOrder(fieldOrder.field, isDescending: !fieldOrder.isDescending)
    guard let related else { return SortCriterion(fieldOrder: order) }
    var reversed = SortCriterion(related: related, isDescending: order.isDescending)
    reversed.target = target
    return reversed
  }
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
