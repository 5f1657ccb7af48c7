import PersistenceDriver

extension PersistentResults {
  /// Calls a closure for each model, in order, and throws where reading fails.
  ///
  /// - Parameter body: Called for each model.
  /// - Throws: ``PersistenceError`` naming the record that could not be read, and what the closure throws.
  @inlinable
  public func forEach(_ body: (Element) throws -> Void) throws {
    try withCursor { cursor in
      while let model = try cursor.next() { try body(model) }
    }
  }

  /// Lends a cursor, whose steps throw where reading fails.
  ///
  /// - Parameter body: Is given the cursor, at the first model.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws.
  @inlinable
  public func withCursor<Result>(_ body: (inout ResultCursor<Element>) throws -> Result) throws -> Result {
    var cursor = ResultCursor(storage, window)
    return try body(&cursor)
  }

  /// How many models there are, throwing where they cannot be counted.
  ///
  /// - Returns: Their number.
  /// - Throws: ``PersistenceError``.
  public func checkedCount() throws -> Int { try storage.count(in: window) }
}

/// A walk over a result whose steps throw where reading fails.
public struct ResultCursor<Element: Sendable>: ~Copyable {
  @usableFromInline let storage: ResultStorage<Element>
  @usableFromInline let walk: PageCursor<Element>

  @inlinable
  init(_ storage: ResultStorage<Element>, _ window: Range<Int>) {
    self.storage = storage
    walk = PageCursor(window)
  }

  /// The next model; nil at the end.
  ///
  /// - Throws: ``PersistenceError`` naming the record that could not be read. The next call tries again.
  @inlinable
  public mutating func next() throws -> Element? {
    if walk.needsPage { try storage.fill(walk.page) }
    return walk.take()
  }
}
