public import DataAccess
public import PersistenceCore

#if canImport(Combine) || canImport(OpenCombine)
  extension LoadingStates {
    /// The states as a publisher, which does not fail: failures are states.
    public var publisher: SequencePublisher<LoadingState<Value>, Never> {
      SequencePublisher { Walk(self.makeAsyncIterator()) { await $0.next() }.next }
    }
  }

  extension RecordUpdates {
    /// The updates as a publisher: who demands less often is given the newest, with all changes since the last one.
    public var publisher: SequencePublisher<RecordUpdate<Model>, PersistenceError> {
      SequencePublisher {
        Walk(self.makeAsyncIterator()) { (iterator) async throws(PersistenceError) in
          try await iterator.next()
        }.next
      }
    }
  }

  extension DomainUpdates {
    /// The updates as a publisher: who demands less often is given the newest, with all changes since the last one.
    public var publisher: SequencePublisher<DomainUpdate<Domain, Entity>, PersistenceError> {
      SequencePublisher {
        Walk(self.makeAsyncIterator()) { (iterator) async throws(PersistenceError) in
          try await iterator.next()
        }.next
      }
    }
  }

  extension DataSourcePages where Object: Sendable {
    /// The pages as a publisher: each is read when it is demanded.
    public var publisher: SequencePublisher<[Object], Failure> {
      SequencePublisher {
        Walk(self.makeAsyncIterator()) { (iterator) async throws(Failure) in try await iterator.next() }.next
      }
    }
  }

  /// One walk over a sequence, by one task at a time.
  private final class Walk<Iterator, Element: Sendable, Failure: Error>: @unchecked Sendable {  // one task
    private var iterator: Iterator
    private let step: @Sendable (inout Iterator) async throws(Failure) -> Element?

    init(
      _ iterator: Iterator, _ step: @escaping @Sendable (inout Iterator) async throws(Failure) -> Element?
    ) {
      self.iterator = iterator
      self.step = step
    }

    @Sendable
    func next() async throws(Failure) -> Element? { try await step(&iterator) }
  }
#endif
