// Whole walks by pages, not by indices and not by the count: several times faster than the standard library's defaults,
// and right also over a context of somebody else's whose count is wrong, where the defaults stop the program.

extension PersistentResults {
  /// What a closure makes of each element, in order.
  ///
  /// - Parameter transform: Is given each element.
  /// - Returns: What it returned.
  /// - Throws: What the closure throws.
  @inlinable
  public func map<Transformed, Failure: Error>(
    _ transform: (Element) throws(Failure) -> Transformed
  ) throws(Failure) -> [Transformed] {
    var transformed: [Transformed] = []
    var iterator = makeIterator()
    while let element = iterator.next() { transformed.append(try transform(element)) }
    return transformed
  }

  /// All elements: how the standard library makes an array of a sequence.
  @inlinable
  public func _copyToContiguousArray() -> ContiguousArray<Element> { storage.all(in: window) }
}
