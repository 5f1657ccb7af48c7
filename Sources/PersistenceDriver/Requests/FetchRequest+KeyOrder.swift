import PersistencePrimitives

extension FetchRequest {
  /// Whether the rows are asked for in ascending order of the primary key: the order in which most stores keep
  /// records, so that nothing has to be sorted.
  public var isInKeyOrder: Bool {
    totalOrder.allSatisfy { !$0.isDescending }
      && totalOrder.map { StoredName($0.field) } == schema.key.map(StoredName.init)
  }
}
