import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL
import Synchronization

/// What all connections of one context share: the path, the configuration, and caches.
final class SQLiteStore: Sendable {
  let path: String
  /// Whether the path led to the file without symbolic links when the store was opened.
  let isPathReal: Bool
  let configuration: SQLiteConfiguration
  let counters = SQLiteCounters()

  private let texts = Lock(StatementKeyTable<StatementText>())
  private let tables = Lock<[StoredName: SQLiteTable]>([:])
  private let notices = Mutex<Set<String>>([])
  private let nextModel = Atomic<UInt32>(1)
  private let isChecked: Atomic<Bool>
  /// The file that the first connection opened; the inode is 0 before.
  private let device = Atomic<UInt64>(0)
  private let inode = Atomic<UInt64>(0)
  private let firstOpening = Lock<Void>(())

  init(path: String, isPathReal: Bool = false, configuration: SQLiteConfiguration) {
    self.path = path
    self.isPathReal = isPathReal
    self.configuration = configuration
    isChecked = Atomic(configuration.checksums == true)
  }

  /// Whether the store has checksums of its pages; until the file was inspected, whether the configuration asks for them.
  var hasChecksums: Bool {
    get { isChecked.load(ordering: .relaxed) }
    set { isChecked.store(newValue, ordering: .relaxed) }
  }

  var location: String { path }

  /// The file that the first connection opened; nil before.
  var identity: FileIdentity? {
    let inode = inode.load(ordering: .acquiring)
    return inode == 0 ? nil : FileIdentity(device: device.load(ordering: .relaxed), inode: inode)
  }

  /// Throws unless the path leads to the file that the first connection opened (contract E8).
  ///
  /// The first connection requires that the file has no other name, whose log could have commits that this one's lacks
  /// (contract C2). Later, nobody can open it by another name.
  ///
  /// - Parameter hasLog: Whether SQLite keeps a log beside the file; read-only contexts may open others by any name.
  /// - Throws: ``PersistenceError``, `missingStore` or `unsupported`.
  func requireInPlace(hasLog: () -> Bool) throws {
    var status = stat()
    guard stat(path, &status) == 0 else { throw PersistenceError.removedStore(location) }
    let found = FileIdentity(status)
    if let known = identity {
      guard known == found else { throw PersistenceError.removedStore(location) }
      return
    }
    guard status.st_nlink <= 1 || configuration.isReadOnly && !hasLog() else {
      throw PersistenceError.hardLinks(location, count: Int(status.st_nlink))
    }
    try firstOpening.withLock { _ in
      if let known = identity, known != found { throw PersistenceError.removedStore(location) }
      device.store(found.device, ordering: .relaxed)
      inode.store(found.inode, ordering: .releasing)
    }
  }

  /// A statement's text, and whether its plan sorts; nil until a connection has asked SQLite.
  struct StatementText {
    let sql: String
    var sorts: Bool?
  }

  /// How many texts to cache; the cache is emptied when it is full, which is rare.
  private static let textLimit = 2_000

  /// The text of a statement key, from the cache if possible.
  func text(of key: StatementKey, _ translate: () -> String) -> StatementText {
    if let known = texts.withLock({ $0[key] }) { return known }
    counters.texts.add(1, ordering: .relaxed)
    let text = StatementText(sql: translate())
    texts.withLock { texts in
      if texts.count >= Self.textLimit { texts.removeAll() }
      texts[key] = text
    }
    return text
  }

  /// Whether the text of a statement is in the cache.
  func knows(_ statement: SQLStatement) -> Bool { texts.withLock { $0[statement] != nil } }

  func cache(sorts: Bool, _ key: StatementKey) {
    texts.withLock { $0[key]?.sorts = sorts }
  }

  /// The table of a definition: the same object as long as the definition is the same, so that its caches live on.
  func table(
    _ name: StoredName, definedBy definition: String, _ make: () throws -> SQLiteTable
  ) rethrows -> SQLiteTable {
    // By bytes: a definition may differ in the spelling of a name only, which is equal as text.
    if let known = tables.withLock({ $0[name] }), known.definition.utf8.elementsEqual(definition.utf8) {
      return known
    }
    let table = try make()
    tables.withLock { $0[name] = table }
    return table
  }

  /// Whether a text is new, so that the log has each notice once.
  func isFirstNotice(_ text: String) -> Bool { notices.withLock { $0.insert(text).inserted } }

  /// A number for a declaration of a model, which statement keys contain.
  func nextModelNumber() -> UInt32 { nextModel.add(1, ordering: .relaxed).oldValue }
}

/// Counts of what a context's connections have done, for tests and benchmarks.
package final class SQLiteCounters: Sendable {
  let preparations = Atomic<Int>(0)
  let texts = Atomic<Int>(0)
  let openings = Atomic<Int>(0)

  /// How many statements SQLite has prepared.
  package var prepares: Int { preparations.load(ordering: .relaxed) }

  /// How many SQL texts have been generated.
  package var textsBuilt: Int { texts.load(ordering: .relaxed) }

  /// How many connections have been opened.
  package var connectionsOpened: Int { openings.load(ordering: .relaxed) }
}

/// A hash table that uses the hash stored in each ``StatementKey``.
///
/// A `Dictionary` would hash the words at every access. Its first access would also look up the `Hashable`
/// conformance, which takes a tenth of the time to open a store.
struct StatementKeyTable<Value> {
  private var slots: [(key: StatementKey, value: Value)?] = []
  private(set) var count = 0

  /// The value of a key; nil where there is none.
  ///
  /// Setting nil does nothing.
  subscript(key: StatementKey) -> Value? {
    get {
      guard !slots.isEmpty else { return nil }
      return slots[slot(of: key)]?.value
    }
    set {
      guard let newValue else { return }
      if (count + 1) * 2 > slots.count { grow() }
      let slot = self.slot(of: key)
      if slots[slot] == nil { count += 1 }
      slots[slot] = (key, newValue)
    }
  }

  /// The value of a statement's key, which is not made; nil where there is none.
  subscript(statement: SQLStatement) -> Value? {
    guard !slots.isEmpty else { return nil }
    var slot = Int(truncatingIfNeeded: statement.hash) & (slots.count - 1)
    while let taken = slots[slot] {
      if statement.matches(taken.key) { return taken.value }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  mutating func removeAll() {
    slots.removeAll()
    count = 0
  }

  /// The slot of a key, or the free slot for it.
  private func slot(of key: StatementKey) -> Int {
    var slot = Int(truncatingIfNeeded: key.hash) & (slots.count - 1)
    while let taken = slots[slot], taken.key != key { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: nil, count: max(8, old.count * 2))
    for case let (key, value)? in old { slots[slot(of: key)] = (key, value) }
  }
}
