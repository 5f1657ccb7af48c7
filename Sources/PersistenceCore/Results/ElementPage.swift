/// Room for one page of elements, which are moved in and out of it: used again for page after page.
@usableFromInline
final class ElementPage<Element: Sendable>: @unchecked Sendable {  // a walk's own
  /// What a walk knows: changed through a pointer, since every access to a class's variable is guarded.
  @usableFromInline
  @frozen
  struct State {
    /// The first element that is still in the page.
    @usableFromInline var offset = 0
    /// How many elements the page was filled with.
    @usableFromInline var count = 0
    /// Where in the result the next page begins.
    @usableFromInline var position: Int
    /// Where the walk ends, if the result has as many elements.
    @usableFromInline let end: Int
    /// Whether the end has been reached.
    @usableFromInline var isDone = false

    @inlinable
    init(_ window: Range<Int>) {
      position = window.lowerBound
      end = window.upperBound
    }

    @inlinable var needsPage: Bool { offset == count && !isDone }
  }

  /// How many elements a page has at most.
  static var size: Int { 128 }

  @usableFromInline let state: UnsafeMutablePointer<State>
  @usableFromInline let elements: UnsafeMutablePointer<Element>

  /// Makes an empty page for a walk over some positions.
  @usableFromInline
  init(_ window: Range<Int>) {
    state = .allocate(capacity: 1)
    state.initialize(to: State(window))
    elements = .allocate(capacity: Self.size)
  }

  deinit {
    (elements + state.pointee.offset).deinitialize(count: state.pointee.count - state.pointee.offset)
    elements.deallocate()
    state.deallocate()
  }

  /// Has the empty page filled, and goes on with it; an empty one is the end.
  ///
  /// - Parameter fill: Initialises elements from the beginning on, and says how many; what it has initialised before
  ///   it throws, it has deinitialised again.
  func refill(_ fill: (UnsafeMutableBufferPointer<Element>) throws -> Int) rethrows {
    let wanted = Swift.min(Self.size, state.pointee.end - state.pointee.position)
    let count = wanted > 0 ? try fill(UnsafeMutableBufferPointer(start: elements, count: wanted)) : 0
    state.pointee.offset = 0
    state.pointee.count = count
    state.pointee.position += count
    state.pointee.isDone = count == 0
  }
}
