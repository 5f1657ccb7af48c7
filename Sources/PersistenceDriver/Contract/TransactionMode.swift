/// How a transaction runs beside other writers of the store.
public enum TransactionMode: String, Sendable, Hashable, Codable {
  /// The closure runs once, while no other writer of the store runs.
  case exclusive

  /// The closure may run again, after its earlier run was rolled back.
  ///
  /// An engine that ``Capabilities/writesInParallel`` runs such transactions at the same time, and runs one again that
  /// conflicts with another. So the closure has no effects but those on the transaction, and sets what it returns anew in
  /// each run. Other engines run it as an exclusive one.
  case replayable
}
