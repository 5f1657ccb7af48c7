public import PersistenceCore
import PersistenceDriver

extension DataSourceQuery {
  /// The objects, whole, and how far loading them has come.
  public var states: LoadingStates<[Source.Object]> {
    LoadingStates { () async throws(PersistenceError) in
      do {
        return try await result()
      } catch {
        throw PersistenceError(of: error)
      }
    }
  }
}

extension RecordUpdates {
  /// The updates, and how far loading them has come.
  public var states: LoadingStates<RecordUpdate<Model>> {
    LoadingStates { SequenceWalk(self).next }
  }
}
