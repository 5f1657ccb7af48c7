public import Foundation
import PersistenceDriver

extension PersistentPredicate where Model: PersistentFields {
  /// Makes a predicate of a Foundation one, written with `#Predicate`.
  ///
  /// Comparisons, `&&`, `||`, `!`, `??`, optional chaining, `if let`, `contains`, `starts(with:)`, ranges and
  /// `isEmpty` of text are understood. They mean what the same condition means in this package: text is compared
  /// by its scalars, and an ordering with nil is false, also where the property is unwrapped by force.
  ///
  /// - Parameter predicate: The condition.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` where it holds an expression
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
  ///   - predicate: Which records.
  /// - Returns: A query to be sorted, cut and asked.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` where the predicate holds an
  ///   expression that no store evaluates.
  public func filter<Model: PersistentRecord>(
    _ model: Model.Type, where predicate: Foundation.Predicate<Model>
  ) throws -> Query<Model> {
    filter(model, where: try PersistentPredicate(predicate))
  }
}
