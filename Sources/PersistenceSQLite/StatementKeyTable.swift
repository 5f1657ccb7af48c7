import PersistenceSQL

/// What is known about shapes: a hash table whose keys' hashes are known.
///
/// The standard library's would hash a shape's words anew at every look, and look for a conformance the first time,
/// which takes as long as a tenth of opening a store.
struct StatementKeyTable<Value> {
  private var slots: [(shape: StatementKey, value: Value)?] = []
  private(set) var count = 0

  /// The value of a shape; nil where there is none.
  ///
  /// What was set once stays until all is removed.
  subscript(shape: StatementKey) -> Value? {
    get {
      guard !slots.isEmpty else { return nil }
      return slots[place(of: shape)]?.value
    }
    set {
      guard let newValue else { return }
      if (count + 1) * 2 > slots.count { grow() }
      let place = place(of: shape)
      if slots[place] == nil { count += 1 }
      slots[place] = (shape, newValue)
    }
  }

  mutating func removeAll() {
    slots.removeAll()
    count = 0
  }

  /// Where a shape stands, or the free slot where it would.
  private func place(of shape: StatementKey) -> Int {
    var place = Int(truncatingIfNeeded: shape.hash) & (slots.count - 1)
    while let taken = slots[place], taken.shape != shape { place = (place + 1) & (slots.count - 1) }
    return place
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: nil, count: max(32, old.count * 2))
    for case let (shape, value)? in old { slots[place(of: shape)] = (shape, value) }
  }
}
