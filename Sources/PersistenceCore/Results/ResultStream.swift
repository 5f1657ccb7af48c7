import Dispatch

extension PersistentResults {
  /// The models as an asynchronous sequence, which throws where reading fails.
  ///
  /// Pages are read on threads of their own, never on the cooperative pool; cancelling the task ends the
  /// sequence with a `CancellationError` between pages.
  public var stream: ResultStream<Model> { ResultStream(storage: storage) }
}

/// The models of a result as an asynchronous sequence.
public struct ResultStream<Model: PersistentRecord>: AsyncSequence, Sendable {
  let storage: ResultStorage<Model>

  /// Walks the result, a page at a time.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let storage: ResultStorage<Model>
    private var walk = PageWalk<Model>()

    init(_ storage: ResultStorage<Model>) { self.storage = storage }

    /// The next model; nil at the end.
    ///
    /// - Throws: ``PersistenceError`` naming the record that could not be read, and `CancellationError`.
    public mutating func next() async throws -> Model? {
      if walk.needsPage {
        try Task.checkCancellation()
        walk.accept(try await Self.page(of: storage, from: walk.position))
      }
      return walk.take()
    }

    private static func page(of storage: ResultStorage<Model>, from position: Int) async throws -> [Model] {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(with: Result { try storage.models(from: position) })
        }
      }
    }
  }

  /// Makes an iterator, which reads pages of its own.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(storage) }
}
