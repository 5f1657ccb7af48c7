import CLMDB
import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue

/// An open LMDB environment with its three databases.
///
/// Key prefixes separate the models, not databases: a snapshot does not see a database that was opened after
/// it began.
final class LMDBHandle: @unchecked Sendable {  // immutable after init; LMDB's environments are thread-safe
  let environment: OpaquePointer
  let mapSize: Int
  /// The largest number of idle readers: a fraction of the slots, which all processes share.
  let idleLimit: Int
  /// Overrides the choice of plans, for tests.
  let planChooser: PlanChooser?
  /// The descriptor of the data file, which LMDB maps.
  let file: Int32
  /// The lock file, in which LMDB keeps the number of the newest transaction and the readers of all processes.
  let lock: FileIdentity?
  private(set) var catalog: MDB_dbi = 0
  private(set) var records: MDB_dbi = 0
  private(set) var indexes: MDB_dbi = 0

  /// Opens the environment of a folder or data file; ``openSpaces(create:)`` opens its databases.
  ///
  /// The header is nil for a new file. The identity of the lock file is that from before; if another program has replaced
  /// the file in between, the first write throws.
  init(
    path: String, isFile: Bool = false, header: LMDBHeader?, lock known: FileIdentity? = nil,
    _ settings: LMDBSettings
  ) throws {
    planChooser = settings.planChooser
    let recorded = header?.mapSize ?? 0
    let needed = max(1 << 20, header?.usedSize ?? 0)
    var size = max(settings.mapSize ?? (recorded == 0 ? LMDBConfiguration.defaultMapSize : 0), recorded)
    while true {
      do {
        environment = try Self.open(path, isFile, settings, size)
        break
      } catch let failure as LMDBFailure
        where (failure.code == ENOMEM || failure.code == EINVAL) && settings.mapSize == nil && size > needed
      {
        // The system rejects the size, as does valgrind; half of it may work.
        size = max(needed, size / 2)
      } catch let failure as LMDBFailure {
        throw failure.error(location: path)
      }
    }
    lock = known ?? FileIdentity(path + (isFile ? "-lock" : "/" + LMDBFiles.lockName))
    var descriptor: mdb_filehandle_t = -1
    mdb_env_get_fd(environment, &descriptor)
    file = descriptor
    var info = MDB_envinfo()
    mdb_env_info(environment, &info)
    mapSize = info.me_mapsize
    // The first process that opened the store has set the size of the reader table.
    idleLimit = max(1, min(32, Int(info.me_maxreaders) / 8))
  }

  private static func open(_ path: String, _ isFile: Bool, _ settings: LMDBSettings, _ mapSize: Int) throws
    -> OpaquePointer
  {
    func check(_ code: Int32) throws {
      if code != MDB_SUCCESS { throw LMDBFailure(code: code, action: "open the store") }
    }
    var created: OpaquePointer?
    try check(mdb_env_create(&created))
    guard let environment = created else { throw LMDBFailure(code: ENOMEM, action: "open the store") }
    do {
      try check(mdb_env_set_maxdbs(environment, 4))
      try check(mdb_env_set_maxreaders(environment, UInt32(clamping: settings.maximumReaders)))
      try check(mdb_env_set_mapsize(environment, mapSize))
      var flags = UInt32(MDB_NOTLS)
      if isFile { flags |= UInt32(MDB_NOSUBDIR) }
      if settings.isReadOnly { flags |= UInt32(MDB_RDONLY) }
      if !settings.readsAhead { flags |= UInt32(MDB_NORDAHEAD) }
      try check(mdb_env_open(environment, path, flags, 0o644))
      return environment
    } catch {
      mdb_env_close(environment)
      throw error
    }
  }

  /// Opens the databases, or creates them; returns whether they exist.
  func openSpaces(create: Bool) throws -> Bool {
    var started: OpaquePointer?
    try LMDBFailure.check(
      mdb_txn_begin(environment, nil, create ? 0 : UInt32(MDB_RDONLY), &started), "look into the store")
    guard let transaction = started else { return false }
    var isOpen = true
    defer { if isOpen { mdb_txn_abort(transaction) } }
    var found: [MDB_dbi] = []
    for space in KeySpace.allCases {
      var number: MDB_dbi = 0
      let code = mdb_dbi_open(transaction, space.name, create ? UInt32(MDB_CREATE) : 0, &number)
      if code == MDB_NOTFOUND { return false }
      try LMDBFailure.check(code, "look into the store")
      found.append(number)
    }
    isOpen = false
    try LMDBFailure.check(mdb_txn_commit(transaction), create ? "make the store" : "look into the store")
    (catalog, records, indexes) = (found[0], found[1], found[2])
    return true
  }

  @inline(__always)
  func database(_ space: KeySpace) -> MDB_dbi {
    switch space {
    case .catalog: catalog
    case .records: records
    case .indexes: indexes
    }
  }

  func isEmpty() throws -> Bool {
    var status = MDB_stat()
    try LMDBFailure.check(mdb_env_stat(environment, &status), "look into the store")
    return status.ms_entries == 0
  }

  /// The number of the newest transaction in the header of the file, which readers get after the commit has ended.
  var newestTransaction: Int {
    var info = MDB_envinfo()
    mdb_env_info(environment, &info)
    return info.me_last_txnid
  }

  /// Frees the reader slots of dead processes; returns their number.
  @discardableResult
  func clearStaleReaders() -> Int {
    var dead: Int32 = 0
    return mdb_reader_check(environment, &dead) == MDB_SUCCESS ? Int(dead) : 0
  }

  func close() { mdb_env_close(environment) }
}

/// The part of a configuration that all contexts of a process share.
struct LMDBSettings: Sendable {
  var mapSize: Int?
  /// Whether the files are read-only.
  ///
  /// A read-only context may share a writable environment.
  var isReadOnly = false
  var readsAhead: Bool
  var maximumReaders: Int
  var busyTimeout: Duration
  var planChooser: PlanChooser?
  var indexMemory: Int
  var checks: LMDBConfiguration.Checks

  init(_ configuration: LMDBConfiguration) {
    mapSize = configuration.mapSize.map { max(1 << 18, $0) }
    readsAhead = configuration.readsAhead
    maximumReaders = max(8, min(1 << 16, configuration.maximumReaders))
    busyTimeout = configuration.busyTimeout
    planChooser = configuration.planChooser
    indexMemory = max(1 << 12, configuration.indexMemory)
    checks = configuration.checks
  }
}
