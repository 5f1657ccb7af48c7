import PersistenceCore
package import PersistenceDriver

extension Row {
  /// Decodes the fields from the first one on, in the order of the schema.
  package func decodeFields<each Value: PersistentValueConvertible>() throws -> (repeat each Value) {
    var position = 0
    return (repeat try decode(at: position.next()) as each Value)
  }
}

extension RowBuffer {
  /// Encodes values into the fields from the first one on, in the order of the schema.
  package func encodeFields<each Value: PersistentValueConvertible>(_ values: repeat each Value) {
    var position = 0
    for value in repeat each values { encode(value, at: position.next()) }
  }
}

extension Int {
  /// The position, which then moves to the next field.
  fileprivate mutating func next() -> Int {
    defer { self += 1 }
    return self
  }
}
