#if canImport(Combine)
  public import Combine
#elseif canImport(OpenCombine)
  public import OpenCombine
#endif

#if canImport(Combine) || canImport(OpenCombine)
  /// Publishes the elements of an asynchronous sequence, as many as are demanded and no more.
  ///
  /// Each subscriber walks the sequence for itself, one element ahead of nobody: the next one is asked for when there is
  /// demand for it. Elements arrive on threads of the cooperative pool; use `receive(on:)` for another. Cancelling the
  /// subscription cancels the walk, and so releases whatever that holds.
  public struct SequencePublisher<Output: Sendable, Failure: Error>: Publisher, Sendable {
    /// Gives the next element; nil at the end.
    public typealias Next = @Sendable () async throws(Failure) -> Output?

    private let begin: @Sendable () -> Next

    /// Makes a publisher.
    ///
    /// - Parameter begin: Called for each subscriber; what it returns is called for each element, by one task at a time.
    public init(_ begin: @escaping @Sendable () -> Next) { self.begin = begin }

    /// Gives a subscriber its subscription; nothing is asked for before it demands something.
    ///
    /// - Parameter subscriber: Who is to be given the elements.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
      subscriber.receive(subscription: PullSubscription(subscriber, begin))
    }
  }
#endif
