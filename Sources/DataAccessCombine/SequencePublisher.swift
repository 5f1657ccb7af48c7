#if canImport(Combine)
  public import Combine
#elseif canImport(OpenCombine)
  public import OpenCombine
#endif

#if canImport(Combine) || canImport(OpenCombine)
  /// Publishes the elements of an asynchronous sequence with backpressure.
  ///
  /// Each subscriber has its own iterator, which requests the next element only on demand. Cancelling the subscription
  /// cancels the iteration and releases its resources.
  ///
  /// Elements and the completion arrive on the actor whose code made the publisher, and on the main actor if the
  /// subscription began on the main thread. So the closure of a `sink` may use the state of its actor. Without an
  /// actor, they arrive on threads of the cooperative pool; use `receive(on:)` to move them. A publisher does not keep its
  /// actor alive, and its subscriptions end with the actor.
  public struct SequencePublisher<Output: Sendable, Failure: Error>: Publisher, Sendable {
    /// Returns the next element; nil at the end.
    package typealias Next = @Sendable () async throws(Failure) -> Output?

    private let recipient: Recipient
    private let begin: @Sendable () -> Next

    /// Creates a publisher from a closure for each subscriber, which one task at a time calls for each element.
    package init(on actor: (any Actor)? = nil, _ begin: @escaping @Sendable () -> Next) {
      recipient = Recipient(actor)
      self.begin = begin
    }

    /// Attaches a subscriber, without requesting an element before it demands one.
    ///
    /// - Parameter subscriber: The subscriber.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
      subscriber.receive(subscription: PullSubscription(subscriber, on: recipient.ofSubscription, begin))
    }
  }
#endif
