import PersistenceDriver

/// A context that reports its commits, as ``Capabilities/reportsCommits`` says.
///
/// All contexts of a process that have one store open share its observers.
public protocol ObservableContext: StorageContext {
  /// The observers of the store's commits.
  var observers: CommitObservers { get }
}
