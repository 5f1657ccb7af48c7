public import Foundation
import PersistenceDriver

extension PersistentPredicate where Model: PersistentFields {
  /// Creates a predicate of a Foundation one, written with `#Predicate`.
  ///
  /// Comparisons, `&&`, `||`, `!`, `??`, optional chaining, `if let`, `contains`, `starts(with:)`, ranges and
  /// `isEmpty` of text are understood. They mean what the same condition means in this package: text is compared
  /// by its scalars, and an ordering with nil is false, also where the property is unwrapped by force.
  ///
  /// - Parameter predicate: The condition.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if it holds an expression
  ///   that no store evaluates, such as arithmetic, naming it.
  public init(_ predicate: Foundation.Predicate<Model>) throws {
    let translation = PredicateTranslation(root: predicate.variable.key) { Model.name(of: $0) }
    self.init(node: try translation.condition(predicate.expression))
  }
}

extension PersistentRepository {
  /// Begins a query with a Foundation predicate, written with `#Predicate`.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - predicate: The filter.
  /// - Returns: A query.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if the predicate holds an
  ///   expression that no store evaluates.
  public func filter<Model: PersistentRecord>(
    _ model: Model.Type, where predicate: Foundation.Predicate<Model>
  ) throws -> Query<Model> {
    filter(model, where: try PersistentPredicate(predicate))
  }
}

extension SortCriterion where Model: PersistentFields {
  /// Creates a criterion of a Foundation sort descriptor.
  ///
  /// - Parameter descriptor: A descriptor over a key path; text is ordered by its UTF-8 bytes, so a descriptor
  ///   with a localised comparator is refused.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if the descriptor has no
  ///   key path, or asks for an order of text that stores do not have.
  public init(_ descriptor: SortDescriptor<Model>) throws {
    guard let keyPath = descriptor.keyPath else {
      throw PersistenceError(
        .unsupported, "a sort descriptor without a key path cannot be sorted by in a store; name a property")
    }
    if let comparator = descriptor.stringComparator, comparator != .lexical {
      throw PersistenceError(
        .unsupported,
        "stores order text by its UTF-8 bytes, not by a locale; give the sort descriptor the comparator .lexical"
      )
    }
    fieldOrder = FieldOrder(Model.name(of: keyPath), isDescending: descriptor.order == .reverse)
  }
}

extension Query {
  /// The query with the criteria of Foundation sort descriptors, less significant than those before.
  ///
  /// - Parameter descriptors: The criteria.
  /// - Returns: The new query.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if a descriptor asks for
  ///   an order that stores do not have.
  public func sorted(by descriptors: SortDescriptor<Model>...) throws -> Query {
    var query = self
    for descriptor in descriptors { query = query.sorted(by: try SortCriterion(descriptor)) }
    return query
  }
}
