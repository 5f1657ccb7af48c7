/// What a thread may do while it holds the lock of a store's observers.
package enum ObserversLock {
  /// Whether the calling thread takes a snapshot under the lock.
  ///
  /// A commit waits for the lock too, so a driver whose snapshots may wait for a writer throws ``SnapshotWouldWait``
  /// instead. Otherwise, the two would wait for each other, and the engine would not notice.
  @TaskLocal package static var isHeld: Bool = false
}

/// A snapshot under the lock of the observers would wait for a writer; it is taken again after the lock was released.
package struct SnapshotWouldWait: Error {
  package init() {}
}
