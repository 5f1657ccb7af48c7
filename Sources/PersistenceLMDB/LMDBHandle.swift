import CLMDB
import Foundation
import PersistenceDriver
import PersistenceKeyValue

/// One opening of an LMDB environment, with its three databases.
///
/// Models are told apart by what their keys begin with, not by databases: a database that is opened after a
/// snapshot began would be unknown in it.
final class LMDBHandle: @unchecked Sendable {  // immutable after init; LMDB's environments are thread-safe
  let environment: OpaquePointer
  let mapSize: Int
  /// How many readers that are not in use are kept: a part of the places, which all processes have in common.
  let idleLimit: Int
  let dice: RandomPlanChooser?
  private(set) var catalog: MDB_dbi = 0
  private(set) var records: MDB_dbi = 0
  private(set) var indexes: MDB_dbi = 0

  /// Opens the environment; its databases are opened by ``openSpaces(create:)``.
  ///
  /// - Parameters:
  ///   - path: The store's folder, or its data file.
  ///   - isFile: Whether it is the data file.
  ///   - header: What the data file says about itself; nil where it is new.
  ///   - settings: How it is opened.
  /// - Throws: ``PersistenceError`` where LMDB refuses the files.
  init(path: String, isFile: Bool = false, header: LMDBHeader?, _ settings: LMDBSettings) throws {
    dice = settings.takesAnyPlan ? RandomPlanChooser() : nil
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
        // The system grants no such address space, or (under valgrind) knows none: half of it may do.
        size = max(needed, size / 2)
      } catch let failure as LMDBFailure {
        throw failure.error(location: path)
      }
    }
    var info = MDB_envinfo()
    mdb_env_info(environment, &info)
    mapSize = info.me_mapsize
    // The table of readers is as large as whoever opened the store first has made it.
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

  /// Opens the databases, or makes them; says whether they are there.
  func openSpaces(create: Bool) throws -> Bool {
    var started: OpaquePointer?
    try LMDBFailure.check(
      mdb_txn_begin(environment, nil, create ? 0 : UInt32(MDB_RDONLY), &started), "look into the store")
    guard let transaction = started else { return false }
    var isOpen = true
    defer { if isOpen { mdb_txn_abort(transaction) } }
    var found: [MDB_dbi] = []
    for space in ByteSpace.allCases {
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
  func database(_ space: ByteSpace) -> MDB_dbi {
    switch space {
    case .catalog: catalog
    case .records: records
    case .indexes: indexes
    }
  }

  /// Whether the main database holds nothing.
  func isEmpty() throws -> Bool {
    var status = MDB_stat()
    try LMDBFailure.check(mdb_env_stat(environment, &status), "look into the store")
    return status.ms_entries == 0
  }

  /// The number of the newest committed transaction.
  var newestTransaction: Int {
    var info = MDB_envinfo()
    mdb_env_info(environment, &info)
    return info.me_last_txnid
  }

  /// Clears the places of readers whose process has died; says how many there were.
  @discardableResult
  func clearStaleReaders() -> Int {
    var dead: Int32 = 0
    return mdb_reader_check(environment, &dead) == MDB_SUCCESS ? Int(dead) : 0
  }

  func close() { mdb_env_close(environment) }
}

/// What of a configuration belongs to the environment, which all contexts of a process share.
struct LMDBSettings: Sendable {
  var mapSize: Int?
  /// Whether the files may not be written to; a context that only reads shares what others write with.
  var isReadOnly = false
  var readsAhead: Bool
  var maximumReaders: Int
  var busyTimeout: Duration
  var takesAnyPlan: Bool
  var indexMemory: Int

  init(_ configuration: LMDBConfiguration) {
    mapSize = configuration.mapSize.map { max(1 << 18, $0) }
    readsAhead = configuration.readsAhead
    maximumReaders = max(8, min(1 << 16, configuration.maximumReaders))
    busyTimeout = configuration.busyTimeout
    takesAnyPlan = configuration.takesAnyPlan
    indexMemory = max(1 << 12, configuration.indexMemory)
  }
}
