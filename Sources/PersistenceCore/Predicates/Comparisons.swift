public import PersistenceDriver

// Comparisons of a stored property with a value, with another property, and with nil. Each operator has a form
// for properties and one for optional properties; orderings with nil are false (contract V6).

/// The property is equal to the value.
public func == <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: SendableKeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  PersistentPredicate(node: .comparison(field: Model.name(of: property), .equal, value.persistentValue))
}

/// The property is equal to the other property.
public func == <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  PersistentPredicate(
    node: .fieldComparison(left: Model.name(of: left), .equal, right: Model.name(of: right)))
}

/// The property is different from the value.
public func != <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: SendableKeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  PersistentPredicate(node: .comparison(field: Model.name(of: property), .notEqual, value.persistentValue))
}

/// The property is different from the other property.
public func != <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  PersistentPredicate(
    node: .fieldComparison(left: Model.name(of: left), .notEqual, right: Model.name(of: right)))
}

/// The property is less than the value.
public func < <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: SendableKeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  PersistentPredicate(node: .comparison(field: Model.name(of: property), .less, value.persistentValue))
}

/// The property is not nil and less than the value.
public func < <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: SendableKeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  PersistentPredicate(node: .comparison(field: Model.name(of: property), .less, value.persistentValue))
}

/// The property is less than the other property.
public func < <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  PersistentPredicate(
    node: .fieldComparison(left: Model.name(of: left), .less, right: Model.name(of: right)))
}

/// The property is at most the value.
public func <= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: SendableKeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  PersistentPredicate(node: .comparison(field: Model.name(of: property), .lessOrEqual, value.persistentValue))
}

/// The property is not nil and at most the value.
public func <= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: SendableKeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  PersistentPredicate(node: .comparison(field: Model.name(of: property), .lessOrEqual, value.persistentValue))
}

/// The property is at most the other property.
public func <= <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  PersistentPredicate(
    node: .fieldComparison(left: Model.name(of: left), .lessOrEqual, right: Model.name(of: right)))
}

/// The property is greater than the value.
public func > <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: SendableKeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  PersistentPredicate(node: .comparison(field: Model.name(of: property), .greater, value.persistentValue))
}

/// The property is not nil and greater than the value.
public func > <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: SendableKeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  PersistentPredicate(node: .comparison(field: Model.name(of: property), .greater, value.persistentValue))
}

/// The property is greater than the other property.
public func > <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  PersistentPredicate(
    node: .fieldComparison(left: Model.name(of: left), .greater, right: Model.name(of: right)))
}

/// The property is at least the value.
public func >= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: SendableKeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  PersistentPredicate(
    node: .comparison(field: Model.name(of: property), .greaterOrEqual, value.persistentValue))
}

/// The property is not nil and at least the value.
public func >= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: SendableKeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  PersistentPredicate(
    node: .comparison(field: Model.name(of: property), .greaterOrEqual, value.persistentValue))
}

/// The property is at least the other property.
public func >= <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  PersistentPredicate(
    node: .fieldComparison(left: Model.name(of: left), .greaterOrEqual, right: Model.name(of: right)))
}
