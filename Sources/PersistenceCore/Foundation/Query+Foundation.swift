public import Foundation
import PersistenceDriver

extension PersistentPredicate where Model: PersistentFields {
  /// Translates a Foundation predicate, written with `#Predicate`.
  ///
  /// Comparisons, `&&`, `||`, `!`, `??`, optional chaining, `if let`, `contains`, `starts(with:)`, ranges and
  /// `isEmpty` of text are supported. They have the semantics of this package: text is compared by its
  /// scalars, and an ordering with nil is false, also if the property is force-unwrapped.
  ///
  /// - Parameter predicate: The condition.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` and the expression if
  ///   stores cannot evaluate it, such as arithmetic.
  public init(_ predicate: Foundation.Predicate<Model>) throws {
    let translation = PredicateTranslation(root: predicate.variable.key) { try Model.place(of: $0) }
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
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if the predicate contains
  ///   an expression that stores cannot evaluate.
  public func filter<Model: PersistentRecord>(
    _ model: Model.Type, where predicate: Foundation.Predicate<Model>
  ) throws -> Query<Model> {
    filter(model, where: try PersistentPredicate(predicate))
  }
}

extension SortCriterion where Model: PersistentFields {
  /// Translates a Foundation sort descriptor.
  ///
  /// - Parameter descriptor: A descriptor over a key path. Stores order text by its UTF-8 bytes, so a
  ///   localized comparator is rejected.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if the descriptor has no
  ///   key path, or a text order that stores do not support.
  public init(_ descriptor: SortDescriptor<Model>) throws {
    guard let keyPath = descriptor.keyPath else {
      throw PersistenceError(
        .unsupported, "stores cannot sort by a descriptor without a key path; use a property's key path")
    }
    if let comparator = descriptor.stringComparator, comparator != .lexical {
      throw PersistenceError(
        .unsupported,
        "stores order text by its UTF-8 bytes, not by a locale; give the sort descriptor the comparator .lexical"
      )
    }
    self.init(fieldOrder: FieldOrder(Model.name(of: keyPath), isDescending: descriptor.order == .reverse))
  }
}

extension Query {
  /// The query with Foundation sort descriptors, less significant than the existing criteria.
  ///
  /// - Parameter descriptors: The criteria.
  /// - Returns: The new query.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if stores do not support
  ///   the order of a descriptor.
  public func sorted(by descriptors: SortDescriptor<Model>...) throws -> Query {
    var query = self
    for descriptor in descriptors { query = query.sorted(by: try SortCriterion(descriptor)) }
    return query
  }
}
