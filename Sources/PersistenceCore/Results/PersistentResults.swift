import PersistenceDriver

/// The models of a fetch, or what was selected of them, read a page at a time from a pinned snapshot: a lazy, Sendable collection.
///
/// It shows the store as it was at the fetch, for as long as it lives, and may be read by several threads at
/// once. A result that fits into its first page pins nothing.
///
/// Walking it costs the same for every element. `count` scans keys at most once and decodes nothing. A jump to a
/// far position may scan the keys up to it once. Copies and `AnyCollection` wrappers share everything.
///
/// A plain `for` cannot throw. Where reading a page fails in the middle, the program is stopped with the error's
/// message, or the context's ``Monitoring/readFailureHandler`` is called and the iteration ends; `forEach(_:)`,
/// ``withCursor(_:)`` and ``stream`` throw instead (contract R4).
public struct PersistentResults<Element: Sendable>: Sendable {
  @usableFromInline let storage: ResultStorage<Element>

  init(
    _ rows: any StorageResults, request: FetchRequest, monitor: ContextMonitor, location: String,
    place: SourcePlace, decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws {
    storage = try ResultStorage(
      rows, request: request, monitor: monitor, location: location, place: place, decode: decode)
  }

  init(
    reading rows: any StorageResults, request: FetchRequest, monitor: ContextMonitor, location: String,
    decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws {
    storage = try ResultStorage(
      reading: rows, request: request, monitor: monitor, location: location, decode: decode)
  }

  /// How many models are read at a time.
  public static var pageSize: Int { ResultStorage<Element>.pageSize }
}

extension PersistentResults: BidirectionalCollection {
  /// A place in a result: a position, or the end, whose position need not be known.
  ///
  /// Whether a position is the end is found out by asking for the model there, so that an empty check, a prefix
  /// or wrapping the result reads no further than it must.
  public struct Index: Comparable, Sendable {
    let storage: ResultStorage<Element>
    /// Nil stands for the end.
    let position: Int?

    /// Whether two places are the same.
    public static func == (left: Index, right: Index) -> Bool {
      switch (left.position, right.position) {
      case (nil, nil): true
      case (let first?, let second?): first == second
      case (let position?, nil): left.isEnd(position)
      case (nil, let position?): right.isEnd(position)
      }
    }

    /// Whether one place comes before another.
    public static func < (left: Index, right: Index) -> Bool {
      switch (left.position, right.position) {
      case (let first?, let second?): first < second
      case (let position?, nil): !left.isEnd(position)
      case (nil, _): false
      }
    }

    private func isEnd(_ position: Int) -> Bool {
      do {
        return try !storage.hasModel(at: position)
      } catch {
        storage.fail(error)
        return true
      }
    }
  }

  /// The place of the first model; equal to ``endIndex`` where there is none.
  public var startIndex: Index { Index(storage: storage, position: 0) }

  /// The place after the last model.
  public var endIndex: Index { Index(storage: storage, position: nil) }

  /// The model at a place before the end.
  ///
  /// - Complexity: Constant within the pages read last; otherwise one page, and for a far jump one scan of keys.
  public subscript(index: Index) -> Element {
    do {
      guard let position = index.position, let model = try storage.model(at: position) else {
        preconditionFailure("a result has no model at its end")  // deliberate: as an array does at its end
      }
      return model
    } catch {
      storage.fail(error)
      preconditionFailure("reading a result failed: \(error)")  // deliberate: there is no element to give
    }
  }

  /// The place after another.
  public func index(after index: Index) -> Index {
    Index(storage: storage, position: index.position.map { $0 + 1 })
  }

  /// The place before another; before the end, the models are counted.
  public func index(before index: Index) -> Index {
    Index(storage: storage, position: (index.position ?? count) - 1)
  }

  /// The place at a distance from another.
  ///
  /// - Complexity: Constant; from the end, the models are counted.
  public func index(_ index: Index, offsetBy distance: Int) -> Index {
    if distance == 0 { return index }
    return Index(storage: storage, position: (index.position ?? count) + distance)
  }

  /// The place at a distance from another, or nil where a limit lies between.
  ///
  /// - Complexity: Constant; from or to the end, at most the page of the target is read.
  public func index(_ index: Index, offsetBy distance: Int, limitedBy limit: Index) -> Index? {
    guard let start = index.position, let bound = limit.position else {
      return limited(index, distance, limit)
    }
    let target = start + distance
    if distance >= 0 ? (bound >= start && target > bound) : (bound <= start && target < bound) { return nil }
    return Index(storage: storage, position: target)
  }

  private func limited(_ index: Index, _ distance: Int, _ limit: Index) -> Index? {
    if distance > 0, let start = index.position {
      // The limit is the end: the target may be the end itself, but not beyond it.
      let target = start + distance
      do {
        guard try target == 0 || storage.hasModel(at: target - 1) else { return nil }
      } catch {
        storage.fail(error)
        return nil
      }
      return Index(storage: storage, position: target)
    }
    let start = index.position ?? count
    let bound = limit.position ?? count
    let target = start + distance
    if distance >= 0 ? (bound >= start && target > bound) : (bound <= start && target < bound) { return nil }
    return Index(storage: storage, position: target)
  }

  /// How many steps lead from one place to another.
  ///
  /// - Complexity: Constant; from or to the end, the models are counted.
  public func distance(from start: Index, to end: Index) -> Int {
    (end.position ?? count) - (start.position ?? count)
  }

  /// How many models there are.
  ///
  /// - Complexity: At most one scan of keys the first time, constant afterwards; nothing is decoded.
  public var count: Int {
    do {
      return try storage.count()
    } catch {
      storage.fail(error)
      return 0
    }
  }

  /// Whether there is no model; known since the fetch.
  public var isEmpty: Bool { startIndex == endIndex }

  /// Walks the result a page at a time.
  public struct Iterator: IteratorProtocol {
    @usableFromInline let storage: ResultStorage<Element>
    @usableFromInline let walk = PageWalk<Element>()

    @inlinable
    init(_ storage: ResultStorage<Element>) { self.storage = storage }

    /// The next model; nil at the end.
    @inlinable
    public mutating func next() -> Element? {
      if walk.needsPage {
        do {
          try storage.fill(walk.page)
        } catch {
          walk.end()
          storage.fail(error)
        }
      }
      return walk.take()
    }
  }

  /// Makes an iterator, which reads pages of its own.
  @inlinable
  public func makeIterator() -> Iterator { Iterator(storage) }
}
