import DataAccess
import DataAccessTesting
import PersistenceCore
import Synchronization

/// A data source whose answers are computed at once and arrive late.
///
/// It can assign keys to inserted notes.
final class LateAnswers: DataSource {
  private let base: any DataSource<Note>
  private let clock: TestClock
  private let delays: Mutex<[Duration]>
  private let assign: @Sendable (Note) -> Note
  private let refusing = Mutex<PersistenceError?>(nil)

  /// The error of batches; nil to apply them.
  var refusal: PersistenceError? {
    get { refusing.withLock { $0 } }
    set { refusing.withLock { $0 = newValue } }
  }

  /// Creates a data source.
  ///
  /// - Parameters:
  ///   - base: The data source that answers.
  ///   - clock: The clock for delays.
  ///   - delays: The delays of the next reads, one each.
  ///   - assign: Assigns the key of an inserted note.
  init(
    _ base: any DataSource<Note>, _ clock: TestClock, _ delays: Duration...,
    assign: @escaping @Sendable (Note) -> Note = { $0 }
  ) {
    (self.base, self.clock, self.assign) = (base, clock, assign)
    self.delays = Mutex(delays)
  }

  /// Delays the next reads.
  func delay(_ delays: Duration...) { self.delays.withLock { $0 += delays } }

  private func late<Value>(_ body: () async throws -> Value) async throws -> Value {
    let delay = delays.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    let value = try await body()
    if let delay { try await clock.sleep(for: delay) }
    return value
  }

  func insert(_ object: Note) async throws -> Note { try await base.insert(assign(object)) }
  func update(_ object: Note) async throws -> Note { try await base.update(object) }
  func update(_ object: Note, replacing old: Note) async throws -> Note {
    try await base.update(object, replacing: old)
  }
  func save(_ object: Note) async throws -> Note { try await base.save(object) }
  func delete(_ object: Note) async throws -> Note? { try await base.delete(object) }
  func apply(_ batch: ChangeBatch<Note>) async throws -> Bool {
    if let refusal { throw refusal }
    return try await base.apply(batch)
  }
  func find(_ key: Int) async throws -> Note? {
    func open(_ base: some DataSource<Note>) async throws -> Note? { try await base.find(key) }
    return try await late { try await open(base) }
  }
  func count(_ query: FetchOptions<Note>) async throws -> Int { try await base.count(query) }
  func execute(_ query: FetchOptions<Note>) async throws -> [Note] {
    try await late { try await base.execute(query) }
  }
}
