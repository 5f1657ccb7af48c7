import PersistenceDriver

extension PersistentResults: BidirectionalCollection {
  /// A place in a result: a position, or an end, whose position need not be known.
  ///
  /// An end is where a slice ends, or the result where that comes first. Whether a position is the end is found out by
  /// asking for the model there, so that an empty check, a prefix or wrapping the result reads no further than it must.
  public struct Index: Comparable, Sendable {
    let storage: ResultStorage<Element>
    let position: Int
    /// Whether the place is the position or, where that comes first, the result's end.
    var isEnd = false

    /// Whether two places are the same.
    public static func == (left: Index, right: Index) -> Bool {
      if left.position == right.position { return true }
      let (first, last) = left.position < right.position ? (left, right) : (right, left)
      // A later place that is an end comes down to an earlier one where the result ends there.
      return last.isEnd && !first.hasModel
    }

    /// Whether one place comes before another.
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

  /// The place of the first model; equal to ``endIndex`` where there is none.
  public var startIndex: Index { place(window.lowerBound) }

  /// The place after the last model.
  public var endIndex: Index { Index(storage: storage, position: window.upperBound, isEnd: true) }

  /// The model at a place before the end.
  ///
  /// - Complexity: Constant within the pages read last; otherwise one page, and for a far jump one scan of keys.
  public subscript(index: Index) -> Element {
    do {
      guard let model = try storage.model(at: index.position) else {
        preconditionFailure("a result has no model at its end")  // deliberate: as an array does at its end
      }
      return model
    } catch {
      storage.fail(error)
      preconditionFailure("reading a result failed: \(error)")  // deliberate: there is no element to give
    }
  }

  /// The models between two places, as a result of the same snapshot.
  ///
  /// - Complexity: Constant; nothing is read.
  public subscript(bounds: Range<Index>) -> PersistentResults {
    sliced(bounds.lowerBound.position, Swift.max(bounds.lowerBound.position, bounds.upperBound.position))
  }

  /// The first models, as a result of the same snapshot.
  ///
  /// - Parameter maxLength: How many at most.
  /// - Returns: A slice, which reads no further.
  /// - Complexity: Constant; nothing is read.
  public func prefix(_ maxLength: Int) -> PersistentResults {
    let (end, overflows) = window.lowerBound.addingReportingOverflow(Swift.max(0, maxLength))
    return sliced(window.lowerBound, overflows ? window.upperBound : Swift.min(end, window.upperBound))
  }

  /// The models but for the first, as a result of the same snapshot.
  ///
  /// - Parameter k: How many are left out.
  /// - Returns: A slice.
  /// - Complexity: Constant; nothing is read.
  public func dropFirst(_ k: Int = 1) -> PersistentResults {
    let (start, overflows) = window.lowerBound.addingReportingOverflow(Swift.max(0, k))
    return sliced(overflows ? window.upperBound : Swift.min(start, window.upperBound), window.upperBound)
  }

  /// The place after another.
  public func index(after index: Index) -> Index { place(index.position + 1) }

  /// The place before another; before the end, the models may be counted.
  public func index(before index: Index) -> Index { place(known(index) - 1) }

  /// The place at a distance from another.
  ///
  /// - Complexity: Constant; from the end, the models may be counted.
  public func index(_ index: Index, offsetBy distance: Int) -> Index {
    distance == 0 ? index : place(known(index) + distance)
  }

  /// The place at a distance from another, or nil where a limit lies between.
  ///
  /// - Complexity: Constant; from or to the end, at most the page of the target is read.
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

  /// How many steps lead from one place to another.
  ///
  /// - Complexity: Constant; from or to the end, the models may be counted.
  public func distance(from start: Index, to end: Index) -> Int { known(end) - known(start) }

  /// How many models there are.
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

  /// Whether there is no model; known since the fetch, but for slices.
  public var isEmpty: Bool { startIndex == endIndex }

  private func place(_ position: Int) -> Index { Index(storage: storage, position: position) }

  private func sliced(_ start: Int, _ end: Int) -> PersistentResults {
    var slice = self
    slice.window = start..<end
    return slice
  }

  /// The position of a place.
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
