import Foundation
import PersistenceCore
import PersistenceDriver
import Synchronization

/// A repository as a layer.
///
/// It stores its coverage and its stale keys, which survive a restart.
final class JournaledLayer<Object: PersistentRecord>: ReplicaLayer {
  let source: RepositoryDataSource<Object>
  private let dates: SteadyDate

  private struct State {
    /// The beginning of this layer; nil before it has recovered from an earlier process.
    var beginning: LayerBeginning?
    /// Stale keys that are not stored yet.
    var unsavedStaleKeys: Set<RecordKey> = []
    var invalidationCount = 0
    /// The generations at which the writes in flight were announced.
    var announced: [RecordKey: Int] = [:]
  }

  private let state = Mutex(State())
  /// Orders the refreshes and the writes from above, also those that continue after their timeout.
  private let mutex = AsyncMutex()
  /// Identifies this layer among all processes.
  let writer = UUID()

  init(_ source: RepositoryDataSource<Object>, _ dates: SteadyDate) {
    (self.source, self.dates) = (source, dates)
    LiveWriters.add(writer)
  }

  deinit { LiveWriters.remove(writer) }

  /// Reads, or writes in one transaction, with the journal.
  func use<Result: Sendable>(
    writes: Bool = true, _ body: @escaping @Sendable (Journal<Object>) throws -> Result
  ) async throws(PersistenceError) -> Result {
    try await catchUp()
    return try await rawUse(writes: writes, body)
  }

  private func rawUse<Result: Sendable>(
    writes: Bool = true, _ body: @escaping @Sendable (Journal<Object>) throws -> Result
  ) async throws(PersistenceError) -> Result {
    try await source.work { repository in
      writes ? try repository.mirrorTransaction { try body(Journal($0)) } : try body(Journal(repository))
    }
  }

  /// Stores the unsaved stale keys, and recovers from a process that was killed.
  private func catchUp() async throws(PersistenceError) {
    let (beginning, staleKeys) = state.withLock { ($0.beginning, $0.unsavedStaleKeys) }
    if beginning != nil, staleKeys.isEmpty { return }
    let recovered = try await rawUse { [writer, dates] journal in
      if beginning == nil {
        try journal.adoptSchema(by: writer)
        try journal.recover(by: writer)
        try journal.recordMissingKeys()
      }
      let recovered = LayerBeginning(date: dates.now(), generation: try journal.state?.generation ?? 0)
      if staleKeys.isEmpty { return recovered }
      try journal.markStale(staleKeys, by: writer)
      for key in staleKeys { try journal.removePendingWrite(key, by: writer) }
      return recovered
    }
    state.withLock { state in
      if state.beginning == nil { state.beginning = recovered }
      state.unsavedStaleKeys.subtract(staleKeys)
    }
  }

  // MARK: Answers

  func answer(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> ReplicaAnswer<Object>? {
    try await use(writes: false) { [self] journal in
      // Read before the objects: a concurrent change can only make the objects newer than their coverage.
      let coverages = try journal.coverages(for: layerQuery)
      switch layerQuery.kind {
      case .key(_, let key):
        if try journal.isStale(key) { return nil }
        let objects = try layerQuery.ask(journal.repository)
        let known = try coverages.filter { try $0.coverage.reach(for: layerQuery.request) != nil }
        guard !objects.isEmpty || !known.isEmpty else { return nil }
        return ReplicaAnswer(objects: objects, asOf: known.compactMap { self.date(of: $0) }.max())
      case .query:
        let parts = try coverages.compactMap { part in
          try part.coverage.reach(for: layerQuery.request).map { (reach: $0, asOf: self.date(of: part)) }
        }.sorted { $0.asOf ?? .distantPast > $1.asOf ?? .distantPast }
        if parts.isEmpty { return nil }
        let objects = try layerQuery.ask(journal.repository)
        return try parts.first { try $0.reach.isWhole(objects, for: layerQuery.request) }
          .map { ReplicaAnswer(objects: objects, asOf: $0.asOf) }
      }
    }
  }

  /// The date of a region; nil if a clock that was set back recorded it in the future.
  ///
  /// The date of a region from before this layer stays unknown when the clock reaches it: the region is older.
  private func date(of part: Journal<Object>.RecordedCoverage) -> Date? {
    guard let beginning = state.withLock(\.beginning) else { return nil }
    let limit = part.number <= beginning.generation ? beginning.date : dates.now()
    return part.coverage.asOf <= limit ? part.coverage.asOf : nil
  }

  func partialObjects(for layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> [Object] {
    try await use(writes: false) { try layerQuery.ask($0.repository) }
  }

  func version() async throws(PersistenceError) -> ReplicaVersion {
    let invalidationCount = state.withLock(\.invalidationCount)
    let written = try await use(writes: false) { try $0.state }
    return ReplicaVersion(invalidationCount: invalidationCount, generation: written?.generation ?? 0)
  }

  // MARK: Refreshing

  func refresh(_ refresh: Refresh<Object>) async throws(PersistenceError) -> Bool {
    try await mutex.withLock { () async throws(PersistenceError) in
      let plan = try await use { try self.store(refresh, in: $0) }
      if let plan { refresh.markStored(plan) }
      return plan?.isWhole ?? false
    }
  }

  /// Applies an answer and records its region.
  ///
  /// - Returns: The applied plan; nil if the answer is outdated.
  private func store(_ refresh: Refresh<Object>, in journal: Journal<Object>) throws -> RefreshPlan<Object>? {
    let invalidationCount = state.withLock(\.invalidationCount)
    if refresh.order.isOutdated { return nil }
    // Writes of another process since the query may be newer than the answer.
    if let written = try journal.state, !written.isWritten(onlyBy: writer, since: refresh.version) {
      return nil
    }
    let coverage = try refresh.coverage()
    let waiting = try journal.waitingNames()
    let held = try localObjects(matching: refresh, coverage, in: journal)
    let plan = try RefreshPlan(refresh, held: held) { key in
      if !waiting.isEmpty, try waiting.contains(HashedName.of(key)) { return .newer }
      return refresh.order.state(of: key)
    }
    try journal.recordMissedChanges(in: refresh, held: held, waiting: waiting)
    for change in plan.changes { try journal.repository.apply(change) }
    if case .query = refresh.layerQuery.kind, let coverage {
      try journal.forget(plan.removed, missingFrom: coverage)
    }
    // A new generation keeps an older answer of another process from overwriting this one.
    _ = try journal.advance(by: writer)
    guard invalidationCount == refresh.version.invalidationCount else { return plan }
    for key in plan.confirmed { try journal.clearStale(key) }
    guard let coverage else { return plan }
    if case .key = refresh.layerQuery.kind {
      guard let key = plan.lookedUpKey else { return plan }
      try journal.clearStale(key)
      try journal.record(coverage, key: key)
    } else if plan.isWhole {
      try journal.record(coverage, key: nil)
    }
    return plan
  }

  private func localObjects(
    matching refresh: Refresh<Object>, _ coverage: Coverage?, in journal: Journal<Object>
  ) throws -> [Object] {
    if case .key = refresh.layerQuery.kind { return try refresh.layerQuery.ask(journal.repository) }
    var held: [Object] = []
    for part in try refresh.changedParts() {
      held += try Object.results(in: journal.repository.context, options: part).checkedArray()
    }
    if let part = refresh.part(coverage) {
      held = try Object.results(in: journal.repository.context, options: part).checkedArray()
    }
    for object in refresh.objects(besides: held) {
      if let other = try journal.repository.find(Object.self, id: object.primaryKey) { held.append(other) }
    }
    return held
  }

  // MARK: Writes of the upper layer

  func prepare(_ keys: [RecordKey]) async throws(PersistenceError) {
    let generation = try await use { [writer] journal in
      for key in keys { try journal.recordPendingWrite(key, by: writer) }
      return try journal.state?.generation ?? 0
    }
    state.withLock { state in for key in keys { state.announced[key] = generation } }
  }

  func commit(
    _ changes: [ObjectChange<Object>], announcedAs announced: [RecordKey], asOf date: Date
  ) async throws(PersistenceError) {
    let keys = changes.map(\.object.recordKey)
    let generation = state.withLock { state in announced.map { state.announced[$0] ?? 0 }.min() ?? 0 }
    try await mutex.withLock { () async throws(PersistenceError) in
      try await use { [self] journal in
        let isAlone =
          try journal.state?.isWritten(onlyBy: writer, since: ReplicaVersion(generation: generation)) ?? true
        _ = try journal.advance(by: writer)
        // A write or an answer that another process has stored meanwhile may be newer than the write.
        if !isAlone { try markStale(keys, in: journal) }
        for change in changes {
          try journal.repository.apply(change.unconditional)
          try journal.removePendingWrite(change.object.recordKey, by: writer)
          if !isAlone { continue }
          try journal.clearStale(change.object.recordKey)
          try journal.recordAbsence(after: change, asOf: date)
        }
      }
    }
    forgetAnnouncements(keys)
  }

  private func forgetAnnouncements(_ keys: [RecordKey]) {
    state.withLock { state in for key in keys { state.announced[key] = nil } }
  }

  func abort(_ keys: [RecordKey]) async {
    forgetAnnouncements(keys)
    do throws(PersistenceError) {
      try await use { [writer] journal in for key in keys { try journal.removePendingWrite(key, by: writer) }
      }
    } catch {
      await markStale(keys)
    }
  }

  func markStale(_ keys: [RecordKey]) async {
    state.withLock { state in
      state.invalidationCount += 1
      state.unsavedStaleKeys.formUnion(keys)
      for key in keys { state.announced[key] = nil }
    }
    // The next use of the layer tries again, and throws if that fails.
    try? await catchUp()
  }

  /// Marks keys as stale, in a transaction.
  func markStale(_ keys: [RecordKey], in journal: Journal<Object>) throws {
    state.withLock { $0.invalidationCount += 1 }
    try journal.markStale(keys, by: writer)
  }

  /// Whether a waiting entry changes a key.
  func isWaiting(_ key: RecordKey) async throws(PersistenceError) -> Bool {
    try await use(writes: false) { try $0.isWaiting(key) }
  }

  // MARK: Local-first writes

  /// Applies changes and adds them to the outbox in the same transaction.
  ///
  /// Changes that replace an entry apply unconditionally.
  ///
  /// - Returns: The previous object for each change; nil if `once` is set and the batch had been applied before.
  func write(
    _ changes: [ObjectChange<Object>], id: UUID, once: Bool, replacing entry: OutboxEntry<Object>?,
    at created: Date, asOf date: Date
  ) async throws(PersistenceError) -> [Object?]? {
    try await catchUp()
    return try await source.work { [self] repository in
      var before: [Object?] = []
      func work(_ inside: any PersistentRepository) throws {
        let journal = try Journal<Object>(inside)
        before = []
        let earlier = try entry.map { try journal.take($0) }
        for change in changes {
          before.append(try inside.find(Object.self, id: change.object.primaryKey))
          try inside.apply(entry == nil ? change : change.unconditional)
          try journal.clearStale(change.object.recordKey)
        }
        // A caller that chose the id may send the same batch from another device.
        try journal.enqueue(changes, id: id, by: writer, at: created, mayJoin: !once, following: earlier)
        for change in changes { try journal.recordAbsence(after: change, asOf: date) }
      }
      if once {
        guard try repository.applyOnce(id, digest: nil, isMirror: true, work) else { return nil }
      } else {
        try repository.mirrorTransaction(work)
      }
      return before
    }
  }
}
