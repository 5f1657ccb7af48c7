#if canImport(Combine) || canImport(OpenCombine)
  public import DataAccess
  public import PersistenceCore

  extension LoadingStates {
    /// The states as a publisher that never fails: failures are states.
    ///
    /// - Parameter isolation: The actor on which subscribers receive; the caller's actor by default.
    /// - Returns: The publisher.
    public func publisher(isolation: isolated (any Actor)? = #isolation) -> SequencePublisher<
      LoadingState<Value>, Never
    > {
      SequencePublisher(on: isolation) { SequenceIterator(self).next }
    }
  }

  extension RecordUpdates {
    /// The updates as a publisher.
    ///
    /// A slow subscriber gets the newest state with coalesced changes.
    ///
    /// - Parameter isolation: The actor on which subscribers receive; the caller's actor by default.
    /// - Returns: The publisher.
    public func publisher(isolation: isolated (any Actor)? = #isolation) -> SequencePublisher<
      RecordUpdate<Record>, PersistenceError
    > {
      SequencePublisher(on: isolation) { SequenceIterator(self).next }
    }
  }

  extension DomainUpdates {
    /// The updates as a publisher.
    ///
    /// A slow subscriber gets the newest state with coalesced changes.
    ///
    /// - Parameter isolation: The actor on which subscribers receive; the caller's actor by default.
    /// - Returns: The publisher.
    public func publisher(isolation: isolated (any Actor)? = #isolation) -> SequencePublisher<
      DomainUpdate<Domain, Entity>, PersistenceError
    > {
      SequencePublisher(on: isolation) { SequenceIterator(self).next }
    }
  }

  extension DataSourcePages where Object: Sendable {
    /// The pages as a publisher, which reads each page on demand.
    ///
    /// - Parameter isolation: The actor on which subscribers receive; the caller's actor by default.
    /// - Returns: The publisher.
    public func publisher(isolation: isolated (any Actor)? = #isolation) -> SequencePublisher<
      [Object], Failure
    > {
      SequencePublisher(on: isolation) { SequenceIterator(self).next }
    }
  }
#endif
