import Foundation
import PersistenceCore
import PersistenceDriver
import Synchronization

/// Any store as a layer: what it holds whole is known in memory only, and unknown again after a restart.
final class VolatileLayer<Object: PersistentRecord>: ReplicaLayer {
  private let store: AnyDataSource<Object>
  private let book = Mutex(CoverageBook())
  /// Reading what is held, comparing and writing is one step for others that write.
  private let gate = AsyncGate()

  init(_ store: AnyDataSource<Object>) { self.store = store }

  func answer(_ question: LayerQuery<Object>) async throws(PersistenceError) -> HeldAnswer<Object>? {
    // Looked up before reading: whatever happens in between makes what is read younger, not older.
    let before = book.withLock { $0 }
    switch question.kind {
    case .key(_, let key):
      if before.doubts.contains(key) { return nil }
      let objects = try await question.ask(store)
      return try caught {
        try before.knowledge(of: key, isHeld: !objects.isEmpty, request: question.request)
      }.map { HeldAnswer(objects: objects, asOf: $0) }
    case .query:
      let parts = try caught { try before.parts(for: question.request) }
      if parts.isEmpty { return nil }
      let objects = try await question.ask(store)
      return try caught { try parts.first { try $0.reach.isWhole(objects, for: question.request) } }
        .map { HeldAnswer(objects: objects, asOf: $0.asOf) }
    }
  }

  func held(_ question: LayerQuery<Object>) async throws(PersistenceError) -> [Object] {
    try await question.ask(store)
  }

  func mark() async throws(PersistenceError) -> LayerMark {
    LayerMark(doubtCount: book.withLock(\.doubtCount))
  }

  func refresh(_ refresh: Refresh<Object>) async throws(PersistenceError) {
    try await gate.enter { () async throws(PersistenceError) in
      if refresh.isOutdated { return }
      let coverage = try caught { try refresh.question.coverage(of: refresh.objects, asOf: refresh.asOf) }
      let held = try await heldBeside(refresh, coverage)
      let plan = try caught { try RefreshPlan(refresh, held: held) { refresh.newer($0) } }
      if !plan.changes.isEmpty { try await store.apply(ChangeBatch(plan.changes)) }
      try caught {
        try book.withLock { book in
          if case .query = refresh.question.kind, let coverage {
            try book.forget(plan.gone, missingFrom: coverage)
          }
          guard book.doubtCount == refresh.mark.doubtCount else { return }
          for key in plan.seen { book.record(key, asOf: refresh.asOf) }
          if case .key(_, let key) = refresh.question.kind {
            if !refresh.newer(key) { book.record(key, asOf: refresh.asOf) }
          } else if let coverage {
            book.record(coverage)
          }
        }
      }
    }
  }

  /// What is held of the part that an answer tells about and, besides, of the objects in the answer.
  private func heldBeside(_ refresh: Refresh<Object>, _ coverage: Coverage?) async throws(PersistenceError)
    -> [Object]
  {
    if case .key = refresh.question.kind { return try await refresh.question.ask(store) }
    var held: [Object] = []
    if let part = refresh.part(coverage) { held = try await store.execute(part) }
    for object in refresh.objects(besides: held) {
      if let other = try await store.find(object.primaryKey) { held.append(other) }
    }
    return held
  }

  func intend(_ keys: [RecordKey]) async throws(PersistenceError) {}

  func settle(_ changes: [ObjectChange<Object>], asOf date: Date) async throws(PersistenceError) {
    try await gate.enter { () async throws(PersistenceError) in
      if changes.count == 1 {
        switch changes[0].settled {
        case .delete(let object): _ = try await store.delete(object)
        case .insert(let object), .save(let object), .update(let object, _): _ = try await store.save(object)
        }
      } else {
        try await store.apply(ChangeBatch(changes.map(\.settled)))
      }
      book.withLock { book in for change in changes { book.record(change.object.recordKey, asOf: date) } }
    }
  }

  func withdraw(_ keys: [RecordKey]) async {}

  func doubt(_ keys: [RecordKey]) async { book.withLock { $0.doubt(keys) } }
}
