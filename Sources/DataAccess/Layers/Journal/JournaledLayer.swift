import Foundation
import PersistenceCore
import PersistenceDriver
import Synchronization

/// A repository as a layer: what it holds whole, and what is in doubt, is kept in it and outlives the process.
final class JournaledLayer<Object: PersistentRecord>: ReplicaLayer {
  let store: RepositoryDataSource<Object>

  private struct State {
    /// Whether what an earlier process left behind has been looked at.
    var isRecovered = false
    /// Keys that came into doubt and could not be written down as such.
    var unwrittenDoubts: Set<RecordKey> = []
    var doubtCount = 0
  }

  private let state = Mutex(State())
  /// Tells this layer from those of other processes.
  let writer = UUID()

  init(_ store: RepositoryDataSource<Object>) { self.store = store }

  /// Reads, or writes in one transaction, with the records of layers at hand.
  func use<Result: Sendable>(
    writes: Bool = true, _ body: @escaping @Sendable (Journal<Object>) throws -> Result
  ) async throws(PersistenceError) -> Result {
    try await catchUp()
    return try await rawUse(writes: writes, body)
  }

  private func rawUse<Result: Sendable>(
    writes: Bool = true, _ body: @escaping @Sendable (Journal<Object>) throws -> Result
  ) async throws(PersistenceError) -> Result {
    try await store.work { repository in
      writes ? try repository.transaction { try body(Journal($0)) } : try body(Journal(repository))
    }
  }

  /// Writes down what could not be written down before, in this process or by one that was killed.
  private func catchUp() async throws(PersistenceError) {
    let (isRecovered, doubts) = state.withLock { ($0.isRecovered, $0.unwrittenDoubts) }
    if isRecovered, doubts.isEmpty { return }
    try await rawUse { [writer] journal in
      if !isRecovered { try journal.recover(by: writer) }
      if doubts.isEmpty { return }
      try journal.doubt(doubts, by: writer)
      for key in doubts { try journal.withdraw(key, by: writer) }
    }
    state.withLock { state in
      state.isRecovered = true
      state.unwrittenDoubts.subtract(doubts)
    }
  }

  // MARK: Answers

  func answer(_ question: LayerQuery<Object>) async throws(PersistenceError) -> HeldAnswer<Object>? {
    try await use(writes: false) { journal in
      // Looked up before the objects are read: what happens in between makes them younger, not older.
      let coverages = try journal.coverages(for: question)
      switch question.kind {
      case .key(_, let key):
        if try journal.isDoubted(key) { return nil }
        let objects = try question.ask(journal.repository)
        let dates = try coverages.filter { try $0.reach(for: question.request) != nil }.map(\.asOf)
        guard !objects.isEmpty || !dates.isEmpty else { return nil }
        return HeldAnswer(objects: objects, asOf: dates.max())
      case .query:
        let parts = try coverages.compactMap { part in
          try part.reach(for: question.request).map { (reach: $0, asOf: part.asOf) }
        }.sorted { $0.asOf > $1.asOf }
        if parts.isEmpty { return nil }
        let objects = try question.ask(journal.repository)
        return try parts.first { try $0.reach.isWhole(objects, for: question.request) }
          .map { HeldAnswer(objects: objects, asOf: $0.asOf) }
      }
    }
  }

  func held(_ question: LayerQuery<Object>) async throws(PersistenceError) -> [Object] {
    try await use(writes: false) { try question.ask($0.repository) }
  }

  func mark() async throws(PersistenceError) -> LayerMark {
    let doubtCount = state.withLock(\.doubtCount)
    let written = try await use(writes: false) { try $0.state }
    return LayerMark(doubtCount: doubtCount, generation: written?.generation ?? 0)
  }

  // MARK: Refreshing

  func refresh(_ refresh: Refresh<Object>) async throws(PersistenceError) {
    try await use { [self] journal in
      let doubtCount = state.withLock(\.doubtCount)
      if refresh.isOutdated { return }
      // Where another process has written since the question was asked, its writes may be newer than the answer.
      if let written = try journal.state, !written.isWritten(onlyBy: writer, since: refresh.mark) { return }
      let coverage = try refresh.question.coverage(of: refresh.objects, asOf: refresh.asOf)
      let waiting = try journal.waitingKeys()
      let plan = try RefreshPlan(refresh, held: try held(beside: refresh, coverage, in: journal)) { key in
        refresh.newer(key) || waiting.contains(key)
      }
      for change in plan.changes { try journal.repository.apply(change) }
      if case .query = refresh.question.kind, let coverage {
        try journal.forget(plan.gone, missingFrom: coverage)
      }
      // So that an older answer of another process is not written down over this one.
      _ = try journal.advance(by: writer)
      guard doubtCount == refresh.mark.doubtCount else { return }
      for key in plan.seen { try journal.clearDoubt(key) }
      guard let coverage else { return }
      if case .key(_, let key) = refresh.question.kind {
        guard !refresh.newer(key), !waiting.contains(key) else { return }
        try journal.clearDoubt(key)
        try journal.record(coverage, key: key)
      } else {
        try journal.record(coverage, key: nil)
      }
    }
  }

  private func held(beside refresh: Refresh<Object>, _ coverage: Coverage?, in journal: Journal<Object>)
    throws
    -> [Object]
  {
    if case .key = refresh.question.kind { return try refresh.question.ask(journal.repository) }
    var held: [Object] = []
    if let part = refresh.part(coverage) {
      held = Array(try Object.results(in: journal.repository.context, options: part))
    }
    for object in refresh.objects(besides: held) {
      if let other = try journal.repository.find(Object.self, id: object.primaryKey) { held.append(other) }
    }
    return held
  }

  // MARK: Writes from above

  func intend(_ keys: [RecordKey]) async throws(PersistenceError) {
    try await use { [writer] journal in for key in keys { try journal.announce(key, by: writer) } }
  }

  func settle(_ changes: [ObjectChange<Object>], asOf date: Date) async throws(PersistenceError) {
    try await use { [self] journal in
      for change in changes {
        try journal.repository.apply(change.settled)
        try journal.clearDoubt(change.object.recordKey)
        try journal.withdraw(change.object.recordKey, by: writer)
        try journal.recordAbsence(after: change, asOf: date)
      }
      _ = try journal.advance(by: writer)
    }
  }

  func withdraw(_ keys: [RecordKey]) async {
    do throws(PersistenceError) {
      try await use { [writer] journal in for key in keys { try journal.withdraw(key, by: writer) } }
    } catch {
      await doubt(keys)
    }
  }

  func doubt(_ keys: [RecordKey]) async {
    state.withLock { state in
      state.doubtCount += 1
      state.unwrittenDoubts.formUnion(keys)
    }
    // Where this fails, it is tried again before the layer is next used, which otherwise throws.
    try? await catchUp()
  }

  /// Brings keys into doubt as part of a transaction.
  func doubt(_ keys: [RecordKey], in journal: Journal<Object>) throws {
    state.withLock { $0.doubtCount += 1 }
    try journal.doubt(keys, by: writer)
  }

  // MARK: Writes that begin here

  /// Makes changes, and keeps them for the remote store in the same transaction.
  ///
  /// - Parameters:
  ///   - changes: The changes.
  ///   - id: What they are sent as.
  ///   - once: Whether they may have been made before, by this id.
  ///   - entry: The entry that was set aside and in whose place they come; they are made whatever is held here then.
  ///   - date: When.
  /// - Returns: For each change, what was stored of its key before; nil where they had been made before, by the id.
  /// - Throws: ``PersistenceError``, with nothing done unless its code leaves that open.
  func write(
    _ changes: [ObjectChange<Object>], id: UUID, once: Bool, replacing entry: OutboxEntry<Object>?,
    at date: Date
  ) async throws(PersistenceError) -> [Object?]? {
    try await catchUp()
    return try await store.work { [self] repository in
      var before: [Object?] = []
      func work(_ inside: any PersistentRepository) throws {
        let journal = try Journal<Object>(inside)
        before = []
        if let entry { try journal.remove(entry) }
        for change in changes {
          before.append(try inside.find(Object.self, id: change.object.primaryKey))
          try inside.apply(entry == nil ? change : change.settled)
          try journal.clearDoubt(change.object.recordKey)
          try journal.recordAbsence(after: change, asOf: date)
        }
        try journal.enqueue(changes, id: id, by: writer, at: date)
      }
      if once {
        guard try repository.applyOnce(id, work) else { return nil }
      } else {
        try repository.transaction(work)
      }
      return before
    }
  }
}
