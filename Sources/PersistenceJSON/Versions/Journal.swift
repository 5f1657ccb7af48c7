import PersistenceDriver

/// The journal: it commits a transaction's files atomically, and completes an interrupted commit.
///
/// The steps of a commit, in order. A kill between any two leaves either the previous version or this one:
/// 1. stage the new files, and link each old file that they replace into `history/v/`;
/// 2. write the manifest, and flush the staged files (history is only for live readers, which a power failure
///    ends too), and the versions before, if their writers did not;
/// 3. move the manifest into `journal/`, and flush that: **from here on the version is committed**;
/// 4. record in `sequence` that version v begins to appear;
/// 5. move each staged file into place;
/// 6. flush the models' folders, record in `sequence` that v is complete, and remove the journal entry;
/// 7. remove history that no pinned version needs.
///
/// Recovery repeats steps 4 to 6, which are idempotent: they do nothing to a file that is in place. That
/// holds even if a power failure restores a removed journal entry, since the names of staged files contain
/// their version, and the next commit flushes the journal before it appears. No step after 3 allocates space
/// for data, so a full disk fails the commit and never the steps after it.
struct Journal {
  static let stageName = "stage"
  static let journalName = "journal"
  static let historyName = "history"
  static let manifestName = "manifest.json"

  /// A file of a transaction: its new text, or nil to delete it.
  struct Entry {
    var folder: String
    var file: String
    var text: [UInt8]?
    /// The new text, if it is not in memory.
    var spooled: SpooledText?
  }

  let store: StoreFolder
  let isSynchronized: Bool
  /// Called before each step, so that tests can stop there.
  let step: @Sendable (String) throws -> Void

  private func folder(_ name: String) throws -> Folder {
    guard let folder = try store.ownFolder(name) else {
      throw PersistenceError(
        .notAStore, "the folder \(name) of the store is missing; open the store again",
        location: store.location)
    }
    return folder
  }

  /// Commits entries as the next version.
  ///
  /// The caller holds the writer lock, and has recovered the journal.
  ///
  /// - Parameters:
  ///   - entries: The files.
  ///   - leftFolders: The folders of dropped models, whose files are among the entries.
  /// - Throws: Errors of the system, after which nothing is committed, unless the code is `outcomeUnknown`.
  func commit(_ entries: [Entry], leaving leftFolders: Set<String> = []) throws {
    let numbers = try store.sequence.read()
    let version = numbers.committed + 1
    let manifest: Manifest
    var isEntered = false
    do {
      manifest = try stage(
        entries, leaving: leftFolders, as: version, flushingAll: numbers.durable != numbers.committed)
      try step("journal")
      try store.requireSharedFiles()
      isEntered = true
      let journal = try folder(Self.journalName)
      let name = Self.entryName(version)
      guard try folder(Self.stageName).move(name, to: journal, as: name) else {
        throw PersistenceError.changedByHand(name, in: "\(StoreFolder.controlName)/\(Self.stageName)")
      }
      if isSynchronized {
        try step("synchronise journal")
        try synchronize(journal)
      }
    } catch let error where !(error is StoppedForTest) {
      // Nothing is committed: deleting the staged files frees their space on a full disk.
      do {
        try abandon(version)
      } catch let failure where isEntered && !(failure is StoppedForTest) {
        throw Self.unknownOutcome(
          error, "the transaction could not be committed, and its journal entry could not be removed",
          "the next writer, or the next context that opens the store, may find and complete it")
      }
      throw error
    }
    do {
      var placed = 0
      try store.makingRoom { try finish(version, manifest, &placed) }
    } catch let error as PersistenceError where error.code == .outcomeUnknown {
      throw error
    } catch {
      throw Self.unknownOutcome(
        error, "the transaction is committed, but its files could not all be moved into place",
        "the next writer, or the next context that opens the store, completes it")
    }
  }

  /// Steps 1 and 2, which also flush the versions before if their writers did not.
  private func stage(
    _ entries: [Entry], leaving leftFolders: Set<String>, as version: UInt64, flushingAll: Bool
  ) throws -> Manifest {
    let stage = try folder(Self.stageName)
    // For many files, flushing the whole file system once is faster than flushing each file.
    let isSmall = entries.count <= 4 && !flushingAll
    try step("stage")
    let history = try folder(Self.historyName).makeFolder("\(version)")
    var manifest = Manifest(changes: [])
    var targets: [String: Folder] = [:]
    let committed = CommittedFiles(store)
    var checksums = try ChecksumLedger.isKept(in: committed) ? ChecksumLedger(committed) : nil
    func add(_ entry: Entry) throws {
      let number = manifest.changes.count
      let target = try targets[entry.folder] ?? store.makeFolder(entry.folder)
      // Now, since a committed version must get into place.
      if targets.updateValue(target, forKey: entry.folder) == nil { try target.requireMoves(from: stage) }
      let existed = try target.keep(entry.file, in: history, as: "\(number)")
      let text = try entry.spooled?.read() ?? entry.text
      manifest.changes.append(
        Manifest.Change(folder: entry.folder, file: entry.file, existed: existed, exists: text != nil))
      let name = Self.stagedName(version, number)
      if let text { try stage.write(text, to: name, synchronized: isSynchronized && isSmall) }
      guard checksums != nil, FileName.isFolder(entry.folder) else { return }
      let status = try text == nil ? nil : stage.status(of: name)
      try checksums?.set(
        text.flatMap { text in status.map { Checksum(text, $0) } }, of: entry.file, in: entry.folder)
    }
    for entry in entries { try add(entry) }
    for folder in leftFolders { try checksums?.removeAll(of: folder) }
    for entry in checksums?.entries ?? [] { try add(entry) }
    try step("manifest")
    let text = manifest.text
    try history.write(text, to: Self.manifestName, synchronized: false)
    try stage.write(text, to: Self.entryName(version), synchronized: isSynchronized && isSmall)
    guard isSynchronized else { return manifest }
    try step("synchronise stage")
    if isSmall { try stage.synchronize() } else { try synchronizeFileSystem(of: stage) }
    return manifest
  }

  private func synchronizeFileSystem(of folder: Folder) throws {
    try step("synchronise file system")
    try folder.synchronizeFileSystem()
  }

  /// Flushes the journal's names, which decide whether a version is committed, down to the medium.
  private func synchronize(_ journal: Folder) throws {
    try journal.synchronize()
    #if canImport(Darwin)
      // There, fsync of a folder leaves its names in the drive's cache, which a full flush of any file empties.
      try store.sequence.synchronize()
    #endif
  }

  /// Steps 4 to 7 for a committed version; the staged files of the first `placed` changes may be in place already.
  private func finish(_ version: UInt64, _ manifest: Manifest, _ placed: inout Int) throws {
    try step("begin")
    try store.sequence.begin(version)
    let stage = try folder(Self.stageName)
    var targets: [String: Folder] = [:]
    for (number, change) in manifest.changes.enumerated() {
      try step("apply \(number)")
      let target = try targets[change.folder] ?? store.makeFolder(change.folder)
      targets[change.folder] = target
      if change.exists {
        let name = Self.stagedName(version, number)
        guard try stage.move(name, to: target, as: change.file) || number < placed else {
          throw Self.lostFile(stage.path(of: name))
        }
      } else {
        try target.remove(change.file)
      }
      placed = max(placed, number + 1)
    }
    if isSynchronized {
      try step("synchronise folders")
      for target in targets.values { try target.synchronize() }
    }
    try step("publish")
    try store.sequence.publish(version, isDurable: isSynchronized)
    try step("forget")
    try folder(Self.journalName).remove(Self.entryName(version))
    try step("prune")
    // A later writer removes history that could not be removed now.
    try? prune()
  }

  /// Whether a commit is in progress or was interrupted, which is known without a lock.
  ///
  /// A committed version that has not begun to appear may wait for the next writer.
  var mayNeedRecovery: Bool {
    get throws {
      let numbers = try store.sequence.read()
      return numbers.applying != numbers.committed
    }
  }

  /// Whether an interrupted commit must be finished before the files can be read, if no writer is at work.
  ///
  /// Readers otherwise tell the versions of files by the version numbers and the history. Neither is synchronized, so after
  /// a loss of power both may be older than the files.
  var needsWriter: Bool {
    get throws {
      let numbers = try store.sequence.read()
      if numbers.applying != numbers.committed { return true }
      guard let journal = try store.ownFolder(Self.journalName) else { return false }
      return try journal.names().compactMap(Self.version(of:)).contains { $0 > numbers.committed }
    }
  }

  /// Completes or rolls back the transaction of a killed writer; returns whether there was one.
  ///
  /// The caller holds the writer lock.
  func recover() throws -> Bool { try store.makingRoom(completeOrRollBack) }

  private func completeOrRollBack() throws -> Bool {
    let journal = try folder(Self.journalName)
    let versions = try journal.names().compactMap(Self.version(of:)).sorted()
    let numbers = try store.sequence.read()
    let history = try folder(Self.historyName)
    let newest = try history.names().compactMap { UInt64($0) }.max() ?? 0
    let hasStage = try !folder(Self.stageName).names().isEmpty
    guard !versions.isEmpty || numbers.applying != numbers.committed || newest > numbers.committed || hasStage
    else {
      return false
    }
    // Only the newest entry can be incomplete: a version begins after the previous one is in place.
    for version in versions {
      let name = Self.entryName(version)
      // A complete version is in place and flushed. Repeating it could delete files created by hand since.
      guard version == versions.last, version > numbers.committed, let text = try journal.read(name) else {
        try journal.remove(name)
        continue
      }
      let manifest = try Manifest(text: text, path: journal.path(of: name))
      // The writer may have been killed before it flushed the entry, which must not be lost once files are in place. If
      // it flushes nothing at all, its files and the versions before may be lost too.
      if isSynchronized { try synchronizeFileSystem(of: journal) }
      if numbers.committed + 1 < version {
        // After a power failure the numbers may be older than the journal; no reader uses a version in between.
        try store.sequence.begin(version - 1)
        try store.sequence.publish(version - 1, isDurable: false)
      }
      var placed = manifest.changes.count
      try finish(version, manifest, &placed)
    }
    let committed = try store.sequence.committed
    for version in try history.names().compactMap({ UInt64($0) }) where version > committed {
      try remove(history, version)
    }
    try store.sequence.begin(committed)
    // An entry whose removal is not durable yet must not return without its staged files.
    if isSynchronized, hasStage { try synchronize(journal) }
    try clearStage()
    return true
  }

  /// Rolls back a commit that failed; throws if its journal entry may survive.
  private func abandon(_ version: UInt64) throws {
    try step("abandon")
    // Under another lock, the files may be those of another writer.
    try store.requireSharedFiles()
    // The entry first: its staged files must exist as long as it does.
    let journal = try folder(Self.journalName)
    if try journal.remove(Self.entryName(version)), isSynchronized { try synchronize(journal) }
    // The next writer removes what remains. No reader looks at the version's history without a journal entry.
    try? clearStage()
    try? remove(folder(Self.historyName), version)
  }

  private static func entryName(_ version: UInt64) -> String { "\(version).json" }

  private static func version(of entry: String) -> UInt64? {
    FileName.stem(of: entry).flatMap { UInt64($0) }.flatMap { $0 < VersionSequence.limit ? $0 : nil }
  }

  private static func stagedName(_ version: UInt64, _ number: Int) -> String { "\(version)-\(number)" }

  private func clearStage() throws {
    let stage = try folder(Self.stageName)
    for name in try stage.names() { try stage.remove(name) }
  }

  /// Removes history that no pinned version needs, under the writer lock: that of version *v* is for readers of
  /// versions below *v*.
  func prune() throws {
    let history = try folder(Self.historyName)
    let oldest = try store.pins.oldest(below: store.sequence.committed)
    for version in try history.names().compactMap({ UInt64($0) }) where version <= oldest {
      try remove(history, version)
    }
  }

  private func remove(_ history: Folder, _ version: UInt64) throws {
    guard let folder = try history.folder("\(version)") else { return }
    for name in try folder.names() { try folder.remove(name) }
    try history.removeFolder("\(version)")
  }
}
