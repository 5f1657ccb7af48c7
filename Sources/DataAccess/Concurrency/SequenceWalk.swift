/// One walk over a sequence, by one task at a time.
package final class SequenceWalk<Base: AsyncSequence>: @unchecked Sendable {  // asked by one task at a time
  private var iterator: Base.AsyncIterator

  package init(_ base: Base) { iterator = base.makeAsyncIterator() }

  /// The next element; nil at the end.
  @Sendable
  package func next() async throws(Base.Failure) -> Base.Element? {
    try await iterator.next(isolation: #isolation)
  }
}
