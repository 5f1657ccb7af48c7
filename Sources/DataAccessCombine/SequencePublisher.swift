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
  /// subscription began on the main thread. ``sink(isolation:receiveCompletion:receiveValue:)`` delivers on the actor that
  /// calls it, wherever the publisher was made. So the closure of a `sink` may use the state of its actor. Without an
  /// actor, they arrive on threads of the cooperative pool; use `receive(on:)` to move them. A publisher does not keep its
  /// actor alive, and its subscriptions end with the actor.
  ///
  /// An operator such as `map` has a `sink` of its own, which does not know its caller. Make the publisher in the code of
  /// the actor that subscribes, as `publisher()` does by default.
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

    /// Subscribes with closures, which run on the caller's actor.
    ///
    /// It replaces the method of the same name of all publishers, whose closures would stop the program in an actor's code
    /// if the publisher was made elsewhere.
    ///
    /// - Parameters:
    ///   - isolation: The actor on which the closures run; the caller's actor by default, and that of the publisher if
    ///     the caller has none.
    ///   - receiveCompletion: Receives the completion.
    ///   - receiveValue: Receives each element.
    /// - Returns: Cancels the subscription, also when it is released.
    public func sink(
      isolation: isolated (any Actor)? = #isolation,
      receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
      receiveValue: @escaping (Output) -> Void
    ) -> AnyCancellable {
      let sink = Subscribers.Sink(receiveCompletion: receiveCompletion, receiveValue: receiveValue)
      (isolation.map { SequencePublisher(on: $0, begin) } ?? self).receive(subscriber: sink)
      return AnyCancellable(sink)
    }
  }

  extension SequencePublisher where Failure == Never {
    /// Subscribes with a closure, which runs on the caller's actor.
    ///
    /// - Parameters:
    ///   - isolation: The actor on which the closure runs; the caller's actor by default, and that of the publisher if the
    ///     caller has none.
    ///   - receiveValue: Receives each element.
    /// - Returns: Cancels the subscription, also when it is released.
    public func sink(
      isolation: isolated (any Actor)? = #isolation, receiveValue: @escaping (Output) -> Void
    ) -> AnyCancellable {
      sink(isolation: isolation, receiveCompletion: { _ in }, receiveValue: receiveValue)
    }
  }
#endif
