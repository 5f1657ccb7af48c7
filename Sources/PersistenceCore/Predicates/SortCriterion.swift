public import PersistenceDriver

/// The direction of a sort criterion.
public enum SortDirection: String, Sendable, Hashable, Codable {
  /// Smaller values first, nil before all of them.
  case ascending
  /// Greater values first, nil after all of them.
  case descending
}

/// The field of a related record by which a query is sorted.
@usableFromInline
final class RelatedCriterion: Sendable {
  let field: RelatedField
  /// The target as the code declares it; nil if only its name is known.
  let target: (any PersistentRecord.Type)?

  init(_ field: RelatedField, of target: (any PersistentRecord.Type)?) {
    self.field = field
    self.target = target
  }
}

/// One criterion of a sort order: a stored property and a direction.
public struct SortCriterion<Model: PersistentModel>: Sendable {
  /// The criterion in the form that contexts use.
  ///
  /// If the criterion is ``related``, no stored field has its name.
  public let fieldOrder: FieldOrder

  /// What the criterion says of a related record; a reference, because each query copies its criteria.
  @usableFromInline let relation: RelatedCriterion?

  /// The field of a related record; nil for a field of the model itself.
  public var related: RelatedField? { relation?.field }

  /// Creates a criterion from a stored name.
  public init(fieldOrder: FieldOrder) {
    self.fieldOrder = fieldOrder
    relation = nil
  }

  /// Creates a criterion from the names of a reference, its target and a field of the target.
  public init(related: RelatedField, isDescending: Bool = false) {
    self.init(related: related, of: nil, isDescending: isDescending)
  }

  /// Creates a criterion with the target of its reference, as the code declares it.
  init(related: RelatedField, of target: (any PersistentRecord.Type)?, isDescending: Bool) {
    fieldOrder = FieldOrder(related.criterionName, isDescending: isDescending)
    relation = RelatedCriterion(related, of: target)
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
    relation = try container.decodeIfPresent(RelatedField.self, forKey: .related).map {
      RelatedCriterion($0, of: nil)
    }
  }

  /// Encodes the criterion.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(fieldOrder, forKey: .fieldOrder)
    try container.encodeIfPresent(related, forKey: .related)
  }
}

extension SortCriterion {
  /// The criterion in the other direction.
  var reversed: SortCriterion {
    let order = FieldOrder(fieldOrder.field, isDescending: !fieldOrder.isDescending)
    guard let relation else { return SortCriterion(fieldOrder: order) }
    return SortCriterion(related: relation.field, of: relation.target, isDescending: order.isDescending)
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
    self.init(fieldOrder: FieldOrder(Model.name(of: property), isDescending: order == .descending))
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
    self.init(fieldOrder: FieldOrder(Model.name(of: property), isDescending: order == .descending))
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
    self.init(fieldOrder: FieldOrder(Model.name(of: property), isDescending: order == .descending))
  }
}
