public import DataAccess
public import PersistenceCore

#if canImport(Combine) || canImport(OpenCombine)
  extension LoadingStates {
    /// The states as a publisher that never fails: failures are states.
    public var publisher: SequencePublisher<LoadingState<Value>, Never> {
      SequencePublisher { SequenceIterator(self).next }
    }
  }

  extension RecordUpdates {
    /// The updates as a publisher.
    ///
    /// A slow subscriber gets the newest state with coalesced changes.
    public var publisher: SequencePublisher<RecordUpdate<Model>, PersistenceError> {
      SequencePublisher { SequenceIterator(self).next }
    }
  }

  extension DomainUpdates {
    /// The updates as a publisher.
    ///
    /// A slow subscriber gets the newest state with coalesced changes.
    public var publisher: SequencePublisher<DomainUpdate<Domain, Entity>, PersistenceError> {
      SequencePublisher { SequenceIterator(self).next }
    }
  }

  extension DataSourcePages where Object: Sendable {
    /// The pages as a publisher, which reads each page on demand.
    public var publisher: SequencePublisher<[Object], Failure> {
      SequencePublisher { SequenceIterator(self).next }
    }
  }
#endif
