import PersistenceDriver

/// Moving an index is constant; reading the model at an index may read a page, and moving from the end may count.
extension PersistentResults: RandomAccessCollection {
  /// An index of a result: a position, or an end, whose position may be unknown.
  ///
  /// An end is the end of a slice, or of the result if that comes first. A comparison with the end requests
  /// the model at the position. So an empty check, a prefix or a wrapper reads no more than it needs.
  public struct Index: Comparable, Sendable {
    let storage: ResultStorage<Element>
    let position: Int
    /// Whether the index is the position or, if that comes first, the end of the result.
    var isEnd = false

    /// Whether two indices are the same.
    public static func == (left: Index, right: Index) -> Bool {
      if left.position == right.position { return true }
      let (first, last) = left.position < right.position ? (left, right) : (right, left)
      // A later end index equals an earlier index if the result ends there.
      return last.isEnd && !first.hasModel
    }

    /// Whether one index comes before another.
    public static func < (left: Index, right: Index) -> Bool {
      guard left.position < right.position else { return false }
      return !right.isEnd || left.hasModel
    }

    private var hasModel: Bool {
      do {
        return try storage.hasModel(at: position)
      } catch {
        storage.fail(error)
        return false
      }
    }
  }

  /// The index of the first model; equal to ``endIndex`` if there is none.
  public var startIndex: Index { place(window.lowerBound) }

  /// The index after the last model.
  public var endIndex: Index { Index(storage: storage, position: window.upperBound, isEnd: true) }

  /// The model at an index before the end.
  ///
  /// - Complexity: Constant in the most recently read pages; otherwise reads a page, and for a distant
  ///   position scans keys.
  public subscript(index: Index) -> Element {
    do {
      guard let model = try storage.model(at: index.position) else {
        preconditionFailure("a result has no model at its end")  // deliberate: as an array does at its end
      }
      return model
    } catch {
      storage.fail(error)
      preconditionFailure("reading a result failed: \(error)")  // deliberate: a subscript cannot throw here
    }
  }

  /// The model at an offset from the first one of the result or slice, as in `results[3]`.
  ///
  /// - Parameter offset: The number of models before it, which is less than ``count``.
  /// - Complexity: Constant in the most recently read pages; otherwise reads a page, and for a distant
  ///   position scans keys.
  public subscript(offset: Int) -> Element {
    precondition(
      offset >= 0 && offset < window.upperBound - window.lowerBound,
      "the offset \(offset) is not in the result")
    return self[place(window.lowerBound + offset)]
  }

  /// The models between two indices, as a result of the same snapshot.
  ///
  /// - Complexity: Constant; nothing is read.
  public subscript(bounds: Range<Index>) -> PersistentResults {
    sliced(bounds.lowerBound.position, Swift.max(bounds.lowerBound.position, bounds.upperBound.position))
  }

  /// The first models, as a slice of the same snapshot.
  ///
  /// - Parameter maxLength: The maximum number of models.
  /// - Returns: A slice, which never reads beyond its end.
  /// - Complexity: Constant; nothing is read.
  public func prefix(_ maxLength: Int) -> PersistentResults {
    let (end, overflows) = window.lowerBound.addingReportingOverflow(Swift.max(0, maxLength))
    return sliced(window.lowerBound, overflows ? window.upperBound : Swift.min(end, window.upperBound))
  }

  /// The models after the first ones, as a slice of the same snapshot.
  ///
  /// - Parameter k: The number of models to skip.
  /// - Returns: A slice.
  /// - Complexity: Constant; nothing is read.
  public func dropFirst(_ k: Int = 1) -> PersistentResults {
    let (start, overflows) = window.lowerBound.addingReportingOverflow(Swift.max(0, k))
    return sliced(overflows ? window.upperBound : Swift.min(start, window.upperBound), window.upperBound)
  }

  /// The index after another.
  public func index(after index: Index) -> Index { place(index.position + 1) }

  /// The index before another; before the end, it may count the models.
  public func index(before index: Index) -> Index { place(known(index) - 1) }

  /// The index at a distance from another.
  ///
  /// - Complexity: Constant; from the end, it may count the models.
  public func index(_ index: Index, offsetBy distance: Int) -> Index {
    distance == 0 ? index : place(known(index) + distance)
  }

  /// The index at a distance from another; nil if it would pass a limit.
  ///
  /// - Complexity: Constant; from or to the end, it reads at most the page of the target.
  public func index(_ index: Index, offsetBy distance: Int, limitedBy limit: Index) -> Index? {
    guard distance > 0, !index.isEnd, limit.isEnd else {
      let (start, bound) = (known(index), known(limit))
      let target = start + distance
      if distance >= 0 ? (bound >= start && target > bound) : (bound <= start && target < bound) {
        return nil
      }
      return place(target)
    }
    // The target may be the end itself, but not beyond it.
    let (target, overflows) = index.position.addingReportingOverflow(distance)
    guard !overflows, target <= limit.position, place(target - 1) < limit else { return nil }
    return place(target)
  }

  /// The distance from one index to another.
  ///
  /// - Complexity: Constant; from or to the end, it may count the models.
  public func distance(from start: Index, to end: Index) -> Int { known(end) - known(start) }

  /// The number of models.
  ///
  /// - Complexity: At most one scan of keys the first time, constant afterwards; nothing is decoded.
  public var count: Int {
    do {
      return try storage.count(in: window)
    } catch {
      storage.fail(error)
      return 0
    }
  }

  /// Whether there are no models; known since the fetch, except for slices.
  public var isEmpty: Bool { startIndex == endIndex }

  private func place(_ position: Int) -> Index { Index(storage: storage, position: position) }

  private func sliced(_ start: Int, _ end: Int) -> PersistentResults {
    var slice = self
    slice.window = start..<end
    return slice
  }

  /// The position of an index.
  private func known(_ index: Index) -> Int {
    guard index.isEnd else { return index.position }
    do {
      return Swift.max(window.lowerBound, try storage.end(before: index.position))
    } catch {
      storage.fail(error)
      return window.lowerBound
    }
  }
}
