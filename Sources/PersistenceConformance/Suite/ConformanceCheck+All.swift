extension ConformanceCheck {
  /// Every check of the contract, those that most contexts fail first.
  ///
  /// The checks of pages come first, because all other checks read pages. Then come writes, values and the basic
  /// queries; checks that start processes come last.
  public static let all: [ConformanceCheck] = [
    PageReadingChecks.all, basics, writing, values, queries, results, errors, relations, observation,
    evolution,
    sharing, faults,
  ].flatMap { $0 }

  /// The checks of the inner loop, for the time in which a context is written: they take seconds in total.
  ///
  /// They start no process, so that they need no ``WorkerProgram``.
  public static var quick: [ConformanceCheck] { all.filter(\.isQuick) }

  private static let basics = [
    WriteChecks.all, RoundTripChecks.all, TransactionChecks.all, UniqueChecks.all, ReopenChecks.all,
    ConditionChecks.all, OrderChecks.all, LifetimeChecks.all,
  ].flatMap { $0 }

  private static let writing = [
    InsideTransactionChecks.all, RequestWriteChecks.all, UpdateInPlaceChecks.all, UniqueKindChecks.all,
    StoredStateChecks.all, WriterChecks.all, DropChecks.all, DeferredIndexChecks.all, IncompleteChecks.all,
    BatchChecks.all, slow(ConcurrencyChecks.all), slow(IsolationChecks.all),
    slow(ReplayChecks.all),
  ].flatMap { $0 }

  private static let values = [
    StringChecks.all, NumberChecks.all, DocumentChecks.all, WrappedChecks.all, DossierChecks.all,
    PlaneChecks.all, WidthChecks.all, slow(BlobChecks.all),
  ].flatMap { $0 }

  private static let queries = [
    AggregateChecks.all, SelectionChecks.all, BoundChecks.all, TextSearchChecks.all,
    ScriptChecks.all, PatternChecks.all, RandomPredicateChecks.all, RandomReaderChecks.all,
    DocumentPartChecks.all, KeyLengthChecks.all, PageChecks.all, ShortFetchChecks.all, PageTokenChecks.all,
    KindPageChecks.all,
    CompoundKeyChecks.all,
  ].flatMap { $0 }

  private static let results = [
    LazyChecks.all, ReleaseChecks.all, SnapshotChecks.all, CollectionChecks.all, HeldResultChecks.all,
    ThrowingRouteChecks.all, InterruptionChecks.all, ClosingChecks.all,
  ].flatMap { $0 }

  private static let errors = [
    MismatchChecks.all, UnknownFieldChecks.all, InvalidRequestChecks.all, ErrorShapeChecks.all,
    SchemaMismatchChecks.all, KindMismatchChecks.all, InvalidRowChecks.all, HostileNameChecks.all,
    HostileShapeChecks.all,
  ].flatMap { $0 }

  private static let relations = [
    IntegrityChecks.all, DeletionChecks.all, RelatedConditionChecks.all, RelatedOrderChecks.all,
    InclusionChecks.all, RelatedObservationChecks.all, RelationHistoryChecks.all, RelationEvolutionChecks.all,
  ].flatMap { $0 }

  private static let observation = [
    ObservationChecks.all, ObservationEndChecks.all, ObservationSchemaChecks.all,
    slow(ObservationLoadChecks.all), slow(OutsideCommitChecks.all),
  ].flatMap { $0 }

  private static let evolution = [
    AdditionChecks.all, OlderVersionChecks.all, LeftBehindChecks.all, RuleChecks.all, ChainChecks.all,
    RemovalChecks.all, IndexRuleChecks.all, WaitingIndexChecks.all, OpeningChecks.all,
    SchemaChangeChecks.all, slow(LongWorkChecks.all), slow(SuccessionChecks.all),
  ].flatMap { $0 }

  private static let sharing = [
    RemovedStoreChecks.all, CutFileChecks.all, SharingChecks.all, slow(ProcessChecks.all),
    slow(MediumChecks.all),
  ].flatMap { $0 }

  private static let faults = [
    slow(KillChecks.all), slow(PowerLossChecks.all), slow(FileFaultChecks.all), RecoveryChecks.all,
    slow(DamageChecks.all), DamagedBlockChecks.all, DamagedOpenStoreChecks.all,
    ResourceChecks.all, slow(FullDiskChecks.all),
  ].flatMap { $0 }

  private static func slow(_ checks: [ConformanceCheck]) -> [ConformanceCheck] { checks.map(\.slow) }
}
