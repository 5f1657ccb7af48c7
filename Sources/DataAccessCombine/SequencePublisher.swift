#if canImport(Combine)
  public import Combine
#elseif canImport(OpenCombine)
  public import OpenCombine
#endif

#if canImport(Combine) || canImport(OpenCombine)
  /// Publishes the elements of an asynchronous sequence with backpressure.
  ///
  /// Each subscriber has its own iterator, which requests the next element only on demand. Elements arrive on
  /// threads of the cooperative pool; use `receive(on:)` to move them. Cancelling the subscription cancels the
  /// iteration and releases its resources.
  public struct SequencePublisher<Output: Sendable, Failure: Error>: Publisher, Sendable {
    /// Returns the next element; nil at the end.
    package typealias Next = @Sendable () async throws(Failure) -> Output?

    private let begin: @Sendable () -> Next

    /// Creates a publisher from a closure for each subscriber, which one task at a time calls for each element.
    package init(_ begin: @escaping @Sendable () -> Next) { self.begin = begin }

    /// Attaches a subscriber, without requesting an element before it demands one.
    ///
    /// - Parameter subscriber: The subscriber.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
      subscriber.receive(subscription: PullSubscription(subscriber, begin))
    }
  }
#endif
