extension ConformanceCheck {
  /// Every check of the contract, in the order of its chapters.
  public static let all: [ConformanceCheck] = [
    values, queries, writing, results, errors, faults,
  ].flatMap { $0 }

  private static let values = [
    RoundTripChecks.all, StringChecks.all, NumberChecks.all, DocumentChecks.all,
  ].flatMap { $0 }

  private static let queries = [
    ConditionChecks.all, TextSearchChecks.all, RandomPredicateChecks.all, OrderChecks.all, PageChecks.all,
  ].flatMap { $0 }

  private static let writing = [
    WriteChecks.all, TransactionChecks.all, InsideTransactionChecks.all, UniqueChecks.all, WriterChecks.all,
    ConcurrencyChecks.all, IsolationChecks.all, ReopenChecks.all,
  ].flatMap { $0 }

  private static let results = [
    LazyChecks.all, SnapshotChecks.all, CollectionChecks.all, ThrowingRouteChecks.all, ClosingChecks.all,
  ].flatMap { $0 }

  private static let errors = [
    MismatchChecks.all, UnknownFieldChecks.all, SchemaMismatchChecks.all, HostileNameChecks.all,
  ].flatMap { $0 }

  private static let faults = [
    KillChecks.all, ProcessChecks.all, MediumChecks.all, DamageChecks.all, FullDiskChecks.all,
  ].flatMap { $0 }
}
