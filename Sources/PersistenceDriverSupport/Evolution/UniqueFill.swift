import PersistenceDriver
import PersistencePrimitives

/// A unique field to which a change gives the same value in several records.
package enum UniqueFill {
  /// The fact and what to do about it.
  package static func finding(_ field: String) -> String {
    "\(field): unique, but .fill or a default gives all records without a value the same one; give the property another "
      + "stored name, as in @Field(\"\(field)2\"), and .compute it from the key"
  }

  /// Calls a closure that makes a change; explains a collision whose value comes from the change.
  ///
  /// - Throws: The error of the closure.
  static func explaining(_ change: SchemaChange, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch var error as PersistenceError where error.code == .uniqueViolation {
      let names = (error.field ?? "").split(separator: ",").map { String($0.drop { $0 == " " }) }
      if let filled = names.first(where: change.fills) { error.message = finding(filled) }
      throw error
    }
  }
}

extension SchemaChange {
  /// Whether records get a constant in a field.
  fileprivate func fills(_ name: String) -> Bool {
    guard let position = target.position(of: name) else { return false }
    return switch sources[position] {
    case .field(_, let replacement): replacement != nil
    case .fill(let value): !value.isNull
    case .computed: false
    }
  }
}
