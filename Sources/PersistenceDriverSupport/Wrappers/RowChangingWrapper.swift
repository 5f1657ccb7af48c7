public import PersistenceDriver

/// A reader wrapper that changes the rows it yields.
///
/// It overrides ``StorageReader/find(_:in:_:)``, ``StorageReader/count(_:)`` and ``StorageReader/fetch(_:)``.
/// Selections and aggregates are derived from its own fetch here, so that they see the changed rows.
public protocol RowChangingWrapper: StorageReaderWrapper {}

extension RowChangingWrapper {
  /// Cuts the rows of the wrapper's own fetch.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try fetchWholeRows(request, selecting: positions)
  }

  /// Aggregates the rows of the wrapper's own fetch.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try aggregateByScanning(request)
  }

  /// The plan for whole rows.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try planForWholeRows(request, selecting: positions)
  }
}
