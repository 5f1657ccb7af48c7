import PersistenceDriver

/// How a transaction's files become the store's, all or none, and how a version that was cut short is finished.
///
/// The steps of a commit, in order; a kill between any two leaves the version before or this one:
/// 1. the new files are staged, and each old file that they replace is given a second name in `history/v/`;
/// 2. the manifest is written, and what is staged is synchronised (history is for readers that live now, whom the
///    loss of power ends too);
/// 3. the manifest is moved into `journal/`, which is synchronised: **from here on the version is committed**;
/// 4. `sequence` says that version v begins to show;
/// 5. each staged file is moved into place;
/// 6. the models' folders are synchronised, `sequence` says that v is whole, the journal's entry is removed;
/// 7. history that no pinned version needs is removed.
///
/// Finishing a version that was cut short repeats steps 4 to 6, which do nothing to a file that is in place.
/// That holds even where the removal of a journal's entry did not survive the loss of power, since staged files
/// carry their version's number, and the next commit synchronises the journal before it shows. Nothing after step 3
/// takes room for data, so a full disk is met before the commit, not after it.
struct Journal {
  static let stageName = "stage"
  static let journalName = "journal"
  static let historyName = "history"
  static let manifestName = "manifest.json"

  /// One file of a transaction: its new text, or nil where it goes.
  struct Entry {
    var folder: String
    var file: String
    var text: [UInt8]?
  }

  let store: StoreFolder
  let isSynchronized: Bool
  /// Called before each step, by tests that stop there.
  let step: @Sendable (String) throws -> Void

  private func folder(_ name: String) throws -> Folder {
    guard let folder = try store.control.folder(name) else {
      throw PersistenceError(
        .notAStore, "the folder \(name) of the store is missing; open the store anew",
        location: store.location)
    }
    return folder
  }

  /// Commits entries as the next version.
  ///
  /// The writer's lock is held, and nothing is left to recover.
  func commit(_ entries: [Entry]) throws {
    let version = try store.sequence.committed + 1
    let manifest: Manifest
    do {
      manifest = try stage(entries, as: version)
      try step("journal")
      let journal = try folder(Self.journalName)
      let name = Self.entryName(version)
      guard try folder(Self.stageName).move(name, to: journal, as: name) else {
        throw PersistenceError.changedByHand(name, in: "\(StoreFolder.controlName)/\(Self.stageName)")
      }
      if isSynchronized { try journal.synchronize() }
    } catch {
      // Nothing is committed: what was staged goes, so that a full disk has its room again.
      if !(error is StoppedForTest) { try? abandon(version) }
      throw error
    }
    do {
      try finish(version, manifest)
    } catch {
      guard var error = (error as? SystemFailure)?.error ?? error as? PersistenceError else { throw error }
      error.message =
        "the transaction is committed, but its files could not all be put into place: \(error.message); the next "
        + "writer, or opening the store, finishes it"
      throw error
    }
  }

  /// Steps 1 and 2.
  private func stage(_ entries: [Entry], as version: UInt64) throws -> Manifest {
    let stage = try folder(Self.stageName)
    // A few files are synchronised one by one; for many, the whole file system once is less.
    let isSmall = entries.count <= 4
    try step("stage")
    let history = try folder(Self.historyName).makeFolder("\(version)")
    var manifest = Manifest(changes: [])
    var targets: [String: Folder] = [:]
    for (number, entry) in entries.enumerated() {
      let target = try targets[entry.folder] ?? store.makeFolder(entry.folder)
      targets[entry.folder] = target
      let existed = try target.keep(entry.file, in: history, as: "\(number)")
      manifest.changes.append(
        Manifest.Change(folder: entry.folder, file: entry.file, existed: existed, exists: entry.text != nil))
      if let text = entry.text {
        try stage.write(text, to: Self.stagedName(version, number), synchronized: isSynchronized && isSmall)
      }
    }
    try step("manifest")
    let text = manifest.text
    try history.write(text, to: Self.manifestName, synchronized: false)
    try stage.write(text, to: Self.entryName(version), synchronized: isSynchronized && isSmall)
    guard isSynchronized else { return manifest }
    try step("synchronise stage")
    if isSmall { try stage.synchronize() } else { try stage.synchronizeFileSystem() }
    return manifest
  }

  /// Steps 4 to 7 for a committed version.
  private func finish(_ version: UInt64, _ manifest: Manifest) throws {
    try step("begin")
    try store.sequence.begin(version)
    let stage = try folder(Self.stageName)
    var targets: [String: Folder] = [:]
    for (number, change) in manifest.changes.enumerated() {
      try step("apply \(number)")
      let target = try targets[change.folder] ?? store.makeFolder(change.folder)
      targets[change.folder] = target
      if change.exists {
        // Where the staged file is gone, it is in place already.
        _ = try stage.move(Self.stagedName(version, number), to: target, as: change.file)
      } else {
        try target.remove(change.file)
      }
    }
    if isSynchronized {
      try step("synchronise folders")
      for target in targets.values { try target.synchronize() }
    }
    try step("publish")
    try store.sequence.publish(version)
    try step("forget")
    try folder(Self.journalName).remove(Self.entryName(version))
    try step("prune")
    // History that could not be removed is removed by a later writer.
    try? prune()
  }

  /// Whether a writer died while its version began to show, or one is at work: known without a lock.
  ///
  /// A version that was committed and has not begun to show may wait for the next writer.
  var mayNeedRecovery: Bool {
    get throws {
      let numbers = try store.sequence.read()
      return numbers.applying != numbers.committed
    }
  }

  /// Finishes or undoes what a killed writer left.
  ///
  /// The writer's lock is held.
  ///
  /// - Returns: Whether there was anything.
  func recover() throws -> Bool {
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
    // Only the newest entry can be unfinished: a later version is begun when the one before is in place.
    for version in versions {
      let name = Self.entryName(version)
      // One that shows as a whole is in place and synchronised. It is not done again: what it took away may have been
      // made anew since, by hand.
      guard version == versions.last, version > numbers.committed, let text = try journal.read(name) else {
        try journal.remove(name)
        continue
      }
      let manifest = try Manifest(text: text, path: journal.path(of: name))
      if numbers.committed + 1 < version {
        // The numbers are older than the journal after the loss of power; nobody reads a version in between.
        try store.sequence.begin(version - 1)
        try store.sequence.publish(version - 1)
      }
      try finish(version, manifest)
    }
    let committed = try store.sequence.committed
    for version in try history.names().compactMap({ UInt64($0) }) where version > committed {
      try remove(history, version)
    }
    try store.sequence.begin(committed)
    try clearStage()
    return true
  }

  private func abandon(_ version: UInt64) throws {
    // The entry first: as long as it is there, what was staged for it must be too.
    let journal = try folder(Self.journalName)
    if try journal.remove(Self.entryName(version)), isSynchronized { try journal.synchronize() }
    try clearStage()
    // Before the journal has the entry, nobody looks at the version's history.
    try remove(folder(Self.historyName), version)
  }

  private static func entryName(_ version: UInt64) -> String { "\(version).json" }

  private static func version(of entry: String) -> UInt64? {
    entry.hasSuffix(".json") ? UInt64(entry.dropLast(5)) : nil
  }

  private static func stagedName(_ version: UInt64, _ number: Int) -> String { "\(version)-\(number)" }

  private func clearStage() throws {
    let stage = try folder(Self.stageName)
    for name in try stage.names() { try stage.remove(name) }
  }

  /// Removes what no pinned version needs: version *v*'s history serves readers of versions below *v*.
  private func prune() throws {
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

/// Thrown by tests in place of a kill: nothing is cleaned up on the way out.
struct StoppedForTest: Error {
  /// The step that was not taken.
  var step: String
}
