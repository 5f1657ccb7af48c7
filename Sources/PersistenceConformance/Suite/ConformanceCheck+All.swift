extension ConformanceCheck {
  /// Every check of the contract, by chapter.
  ///
  /// The checks of pages come first, because all other checks read pages.
  public static let all: [ConformanceCheck] = [
    PageReadingChecks.all, values, queries, writing, results, errors, faults, observation,
    evolution,
  ].flatMap { $0 }

  private static let values = [
    RoundTripChecks.all, StringChecks.all, NumberChecks.all, DocumentChecks.all, WrappedChecks.all,
    DossierChecks.all, BlobChecks.all, PlaneChecks.all, WidthChecks.all,
  ].flatMap { $0 }

  private static let queries = [
    ConditionChecks.all, AggregateChecks.all, SelectionChecks.all, BoundChecks.all, TextSearchChecks.all,
    ScriptChecks.all, PatternChecks.all, RandomPredicateChecks.all, RandomReaderChecks.all, OrderChecks.all,
    DocumentPartChecks.all, KeyLengthChecks.all, PageChecks.all, PageTokenChecks.all, KindPageChecks.all,
    CompoundKeyChecks.all,
  ].flatMap { $0 }

  private static let writing = [
    WriteChecks.all, TransactionChecks.all, InsideTransactionChecks.all, UniqueChecks.all,
    UniqueKindChecks.all, WriterChecks.all, ConcurrencyChecks.all, IsolationChecks.all, ReopenChecks.all,
    UpdateInPlaceChecks.all, DropChecks.all, DeferredIndexChecks.all, IncompleteChecks.all, BatchChecks.all,
  ].flatMap { $0 }

  private static let results = [
    LazyChecks.all, ReleaseChecks.all, SnapshotChecks.all, CollectionChecks.all,
    ThrowingRouteChecks.all, InterruptionChecks.all, ClosingChecks.all,
  ].flatMap { $0 }

  private static let errors = [
    MismatchChecks.all, UnknownFieldChecks.all, InvalidRequestChecks.all, ErrorShapeChecks.all,
    SchemaMismatchChecks.all, KindMismatchChecks.all, InvalidRowChecks.all, HostileNameChecks.all,
    HostileShapeChecks.all,
  ].flatMap { $0 }

  private static let observation = [
    ObservationChecks.all, ObservationLoadChecks.all, ObservationEndChecks.all, OutsideCommitChecks.all,
    ObservationSchemaChecks.all,
  ].flatMap { $0 }

  private static let evolution = [
    AdditionChecks.all, OlderVersionChecks.all, LeftBehindChecks.all, RuleChecks.all, ChainChecks.all,
    RemovalChecks.all,
    IndexRuleChecks.all, WaitingIndexChecks.all, LongWorkChecks.all,
    OpeningChecks.all, SchemaChangeChecks.all, SuccessionChecks.all,
  ].flatMap { $0 }

  private static let faults = [
    KillChecks.all, ProcessChecks.all, MediumChecks.all, DamageChecks.all, FullDiskChecks.all,
  ].flatMap { $0 }
}
