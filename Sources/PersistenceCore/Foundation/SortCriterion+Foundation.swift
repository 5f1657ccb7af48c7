public import Foundation
import PersistenceDriver

extension SortCriterion where Model: PersistentFields {
  /// Makes a criterion of a Foundation sort descriptor.
  ///
  /// - Parameter descriptor: A descriptor over a key path; text is ordered by its UTF-8 bytes, so a descriptor
  ///   with a localised comparator is refused.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` where the descriptor has no
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
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` where a descriptor asks for
  ///   an order that stores do not have.
  public func sorted(by descriptors: SortDescriptor<Model>...) throws -> Query {
    var query = self
    for descriptor in descriptors { query = query.sorted(by: try SortCriterion(descriptor)) }
    return query
  }
}
