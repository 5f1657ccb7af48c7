import Foundation
import PersistenceDriver

/// What a part of a Foundation predicate stands for.
enum PredicateTerm {
  /// The model itself.
  case model
  /// A stored property.
  case field(String)
  /// A stored property, or a value where it is nil.
  case coalesced(String, PersistentValue)
  /// A constant of any type.
  case constant(Any)
  /// A condition.
  case condition(PredicateNode)
  /// A condition on the value of a property, nil where the property is.
  case optionalCondition(field: String, PredicateNode)
}

extension PredicateTerm {
  /// The stored value of a constant; nil where the term is none, or of a type that is stored as a document.
  var value: PersistentValue? {
    guard case .constant(let constant) = self else { return nil }
    return Self.value(of: constant)
  }

  static func value(of constant: Any) -> PersistentValue? {
    (constant as? any PersistentValueConvertible)?.persistentValue
  }

  /// The values of a constant sequence; nil where the term is none.
  var values: [PersistentValue]? {
    guard case .constant(let constant) = self, let sequence = constant as? any Sequence else { return nil }
    var values: [PersistentValue] = []
    for element in sequence {
      guard let value = Self.value(of: element) else { return nil }
      values.append(value)
    }
    return values
  }

  /// The term as a condition; nil where it is none.
  var node: PredicateNode? {
    switch self {
    case .condition(let node): node
    case .field(let field): .comparison(field: field, .equal, .bool(true))
    case .coalesced(let field, let other):
      .any([
        .comparison(field: field, .equal, .bool(true)),
        .all([.comparison(field: field, .equal, .null), .constant(other == .bool(true))]),
      ])
    case .constant(let constant): (constant as? Bool).map(PredicateNode.constant)
    case .model, .optionalCondition: nil
    }
  }
}
