import Foundation
import PersistenceDriver

/// Translates the expressions of a Foundation predicate into a ``PredicateNode``.
struct PredicateTranslation {
  private let place: (AnyKeyPath) throws -> StoredPlace
  private var variables: [PredicateExpressions.VariableID: PredicateTerm]

  init(root: PredicateExpressions.VariableID, place: @escaping (AnyKeyPath) throws -> StoredPlace) {
    self.place = place
    variables = [root: .model]
  }

  /// Translates an expression to a term.
  func term(_ expression: any PredicateExpression) throws -> PredicateTerm {
    guard let expression = expression as? any TranslatableExpression else { throw unsupported(expression) }
    return try expression.term(in: self)
  }

  /// Translates an expression to a condition.
  func condition(_ expression: any PredicateExpression) throws -> PredicateNode {
    guard let node = try term(expression).node else { throw unsupported(expression) }
    return node
  }

  /// Translates an expression to a stored property.
  func field(_ expression: any PredicateExpression) throws -> String {
    guard case .field(let field) = try term(expression) else { throw unsupported(expression) }
    return field
  }

  func variable(_ id: PredicateExpressions.VariableID) -> PredicateTerm? { variables[id] }

  /// The term of a key path of the model.
  func term(of keyPath: AnyKeyPath) throws -> PredicateTerm {
    switch try place(keyPath) {
    case .field(let field): .field(field)
    case .part(let field, let path): .part(field, path)
    }
  }

  /// A search in a text property, or in a part of a document.
  func search(
    _ expression: any PredicateExpression, _ search: TextOperator, _ needle: String
  ) throws -> PredicateNode {
    if case .part(let field, let path) = try term(expression) {
      return .document(field: field, path: path, .text(search, needle, isCaseInsensitive: false))
    }
    return .text(field: try field(expression), search, needle, isCaseInsensitive: false)
  }

  /// Translates the body of a closure whose parameter is bound to a term.
  func binding(_ id: PredicateExpressions.VariableID, to term: PredicateTerm) -> PredicateTranslation {
    var inner = self
    inner.variables[id] = term
    return inner
  }

  func unsupported(_ expression: Any) -> PersistenceError {
    PersistenceError(
      .unsupported,
      "no store evaluates the expression \(expression) of a #Predicate; write the condition with the operators "
        + "of PersistentPredicate, or filter the results")
  }

  /// A comparison of two terms.
  func comparison(
    _ left: any PredicateExpression, _ comparison: PersistenceDriver.ComparisonOperator,
    _ right: any PredicateExpression
  ) throws -> PredicateNode {
    guard let node = try Self.compare(try term(left), comparison, try term(right)) else {
      throw unsupported("\(left) \(comparison.rawValue) \(right)")
    }
    return node
  }

  private static func compare(
    _ left: PredicateTerm, _ comparison: PersistenceDriver.ComparisonOperator, _ right: PredicateTerm
  ) throws -> PredicateNode? {
    switch (left, right) {
    case (.field(let first), .field(let second)):
      return .fieldComparison(left: first, comparison, right: second)
    case (.field(let field), .constant(let constant)):
      return .comparison(field: field, comparison, try storedValue(of: constant))
    case (.part(let field, let path), .constant(let constant)):
      return try comparison.node(.part(field: field, path: path), constant)
    case (.coalesced(let field, let other), .constant(let constant)):
      let value = try storedValue(of: constant)
      let holds = comparison.holds(other, value)
      return .any([
        .all([
          .comparison(field: field, .notEqual, .null), .comparison(field: field, comparison, value),
        ]),
        .all([.comparison(field: field, .equal, .null), .constant(holds)]),
      ])
    case (.optionalCondition(let field, let node), .constant(let constant)):
      return optional(field, node, comparison, constant)
    case (.condition(let node), .constant(let constant)):
      guard let truth = constant as? Bool, !comparison.isOrdering else { return nil }
      return truth == (comparison == .equal) ? node : .not(node)
    case (.constant(let first), .constant(let second)):
      return .constant(comparison.holds(try storedValue(of: first), try storedValue(of: second)))
    case (.constant, _):
      return try compare(right, comparison.mirrored, left)
    default: return nil
    }
  }

  /// Compares a condition on an optional property with true, false or nil.
  private static func optional(
    _ field: String, _ node: PredicateNode, _ comparison: PersistenceDriver.ComparisonOperator,
    _ constant: Any
  ) -> PredicateNode? {
    guard !comparison.isOrdering, let value = PredicateTerm.value(of: constant) else { return nil }
    let isNil = PredicateNode.comparison(field: field, .equal, .null)
    let equals: PredicateNode
    switch value {
    case .null: equals = isNil
    case .bool(let truth): equals = .all([.not(isNil), truth ? node : .not(node)])
    default: return nil
    }
    return comparison == .equal ? equals : .not(equals)
  }

  private static func storedValue(of constant: Any) throws -> PersistentValue {
    if let value = PredicateTerm.value(of: constant) { return value }
    guard let document = constant as? any Encodable else {
      throw PersistenceError(.unsupported, "a value of type \(type(of: constant)) cannot be stored")
    }
    return try DocumentCoding.encode(document).map(PersistentValue.document) ?? .null
  }
}

extension PersistenceDriver.ComparisonOperator {
  /// The comparison with its operands exchanged.
  fileprivate var mirrored: Self {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .equal, .notEqual: self
    }
  }

  /// Compares two values of one kind.
  fileprivate func holds(_ left: PersistentValue, _ right: PersistentValue) -> Bool {
    holds(leftIsNull: left.isNull, rightIsNull: right.isNull, order: PersistentValue.compare(left, right))
  }
}

/// A translated part of a Foundation predicate.
enum PredicateTerm {
  /// The model itself.
  case model
  /// A stored property.
  case field(String)
  /// A part of a document, at a path of member names.
  case part(String, [String])
  /// A stored property with a default value for nil (`??`).
  case coalesced(String, PersistentValue)
  /// A constant of any type.
  case constant(Any)
  /// A condition.
  case condition(PredicateNode)
  /// A condition on an optional property, nil if the property is nil.
  case optionalCondition(field: String, PredicateNode)
}

extension PredicateTerm {
  /// The stored value of a constant; nil if the term is not a constant, or its type is stored as a document.
  var value: PersistentValue? {
    guard case .constant(let constant) = self else { return nil }
    return Self.value(of: constant)
  }

  static func value(of constant: Any) -> PersistentValue? {
    if let value = constant as? any PersistentValueConvertible { return value.persistentValue }
    // Such a type is stored as its raw value, not as a document.
    guard constant is any Codable, let value = constant as? any RawRepresentable else { return nil }
    return (value.rawValue as? any PersistentValueConvertible)?.persistentValue
  }

  /// The values of a constant sequence; nil if the term is not one.
  var values: [PersistentValue]? {
    guard case .constant(let constant) = self, let sequence = constant as? any Sequence else { return nil }
    var values: [PersistentValue] = []
    for element in sequence {
      guard let value = Self.value(of: element) else { return nil }
      values.append(value)
    }
    return values
  }

  /// The term as a condition; nil if it is not one.
  var node: PredicateNode? {
    switch self {
    case .condition(let node): node
    case .field(let field): .comparison(field: field, .equal, .bool(true))
    case .part(let field, let path):
      .document(field: field, path: path, .comparison(.equal, .document("true")))
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
