/// Objects that are remembered and not kept.
struct WeakList<Object: AnyObject> {
  private struct Reference {
    weak var object: Object?
  }

  private var references: [Reference] = []

  mutating func append(_ object: Object) { references.append(Reference(object: object)) }

  /// The objects that live, after which the others are forgotten.
  ///
  /// They are given out so that they are let go where nothing is locked: the last reference may be the one that was
  /// made by looking.
  mutating func alive() -> [Object] {
    let objects = references.compactMap(\.object)
    references = objects.map(Reference.init)
    return objects
  }
}
