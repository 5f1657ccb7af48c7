import PersistenceDriver
import PersistenceSQL
import Synchronization
import PersistenceDriverSupport

/// What all connections of one context share: where the store is, how it was opened, and what has been worked
/// out about it.
final class SQLiteStore: Sendable {
  /// The file's absolute path.
  let path: String
  let configuration: SQLiteConfiguration
  let counters = SQLiteCounters()

  private let texts = Lock(StatementKeyTable<StatementText>())
  private let tables = Lock<[StoredName: SQLiteTable]>([:])
  private let notices = Mutex<Set<String>>([])
  private let nextModel = Atomic<UInt32>(1)

  init(path: String, configuration: SQLiteConfiguration) {
    self.path = path
    self.configuration = configuration
  }

  var location: String { path }

  /// A statement's text, and whether its plan sorts, once somebody has asked.
  struct StatementText {
    let sql: String
    var sorts: Bool?
  }

  /// How many texts are kept; shapes beyond that are rare, and all are forgotten then.
  private static let textLimit = 2_000

  /// The text of a shape, made the first time.
  func text(of shape: StatementKey, on table: SQLTable) -> StatementText {
    if let known = texts.withLock({ $0[shape] }) { return known }
    counters.count(.textBuilt)
    let text = StatementText(
      sql: SQLQueryTranslator.text(of: shape, on: table, SQLiteDialect()), sorts: nil)
    texts.withLock { texts in
      if texts.count >= Self.textLimit { texts.removeAll() }
      texts[shape] = text
    }
    return text
  }

  /// Notes whether the plan of a shape sorts.
  func note(sorts: Bool, _ shape: StatementKey) {
    texts.withLock { texts in
      guard var text = texts[shape] else { return }
      text.sorts = sorts
      texts[shape] = text
    }
  }

  /// The table of a definition: the same object for as long as the definition is the same, so that what was
  /// worked out about it stays.
  func table(
    _ name: StoredName, definedBy definition: String, _ make: () throws -> SQLiteTable
  ) rethrows -> SQLiteTable {
    if let known = tables.withLock({ $0[name] }), known.definition == definition { return known }
    let table = try make()
    tables.withLock { $0[name] = table }
    return table
  }

  /// Whether something is noticed for the first time, so that the log says it once.
  func isNews(_ text: String) -> Bool { notices.withLock { $0.insert(text).inserted } }

  /// A number for a declaration of a model, as it stands in shapes.
  func nextModelNumber() -> UInt32 { nextModel.add(1, ordering: .relaxed).oldValue }
}
