import Foundation
import PersistenceDriver
import Synchronization

/// The store's files in one version, which stays pinned as long as the view exists.
///
/// A reader opens the file first, and looks into the history afterwards. A file replaced before it was opened
/// is in the history by then; a later replacement does not change an open file. So one look after the last of several
/// files is as good as one after each.
final class VersionView: RecordSource, Sendable {
  private typealias Contents = (bytes: [UInt8], status: FileStatus)

  /// The size of texts after which no further one is read ahead.
  private static let sizeAhead = 1 << 18

  let store: StoreFolder
  let version: UInt64
  private let moment: FileTime
  private let changed: Mutex<Changed>
  /// The folders that the view opened first, so that it still reads a folder that was moved away.
  private let folders = Mutex<[String: Folder]>([:])

  /// The changes of later versions: for each file, the first change.
  private struct Changed {
    var version: UInt64
    var files: [String: [String: Before]] = [:]
  }

  /// The state of a file before a version changed it.
  private struct Before {
    var version: UInt64
    var number: Int
    var existed: Bool
  }

  /// Pins the newest complete version.
  init(_ store: StoreFolder) throws {
    self.store = store
    while true {
      let newest = try store.sequence.committed
      try store.pins.pin(newest)
      // The version is unchanged, so any process that removes history from now on sees the pin.
      if try store.sequence.committed == newest {
        version = newest
        break
      }
      store.pins.release(newest)
    }
    moment = .now
    changed = Mutex(Changed(version: version))
  }

  deinit { store.pins.release(version) }

  var readAhead: Int { 64 }

  func names(in folder: String) throws -> [String] {
    let live = try self.folder(folder)?.names() ?? []
    let changes = try changes(in: folder)
    guard !changes.isEmpty else { return live }
    var names = Set(live)
    for (file, before) in changes {
      if before.existed { names.insert(file) } else { names.remove(file) }
    }
    return Array(names)
  }

  func read(_ file: String, in folder: String) throws -> FileText? {
    let live = try self.folder(folder).flatMap { try store.contents(of: file, in: $0) }
    return try text(live, changes(in: folder)[file], file, folder)
  }

  func texts(of files: [String], in folder: String) throws -> [FileText?] {
    let live = try contents(of: files, in: folder)
    let changes = try changes(in: folder)
    return try Self.first(live.count, size: { $0?.bytes.count ?? 0 }) { number in
      try text(live[number], changes[files[number]], files[number], folder)
    }
  }

  func exists(_ file: String, in folder: String) throws -> Bool {
    let isThere = try self.folder(folder)?.status(of: file) != nil
    return try changes(in: folder)[file]?.existed ?? isThere
  }

  func status(of file: String, in folder: String) throws -> FileStatus? {
    // The file first and history afterwards, as in reading. The next read reports a concurrent edit by hand.
    guard let status = try self.folder(folder)?.status(of: file), !status.isModified(after: moment),
      try changes(in: folder)[file] == nil
    else { return nil }
    return status
  }

  func statuses(of files: [String], in folder: String) throws -> [FileStatus?] {
    guard let live = try self.folder(folder) else { return files.map { _ in nil } }
    let statuses = try files.map { try live.status(of: $0) }
    let changes = try changes(in: folder)
    return zip(files, statuses).map { file, status in
      guard let status, !status.isModified(after: moment), changes[file] == nil else { return nil }
      return status
    }
  }

  /// The schemas of this version's models.
  func catalog() throws -> Catalog {
    let (folder, file) = (StoreFolder.controlName, StoreFolder.catalogName)
    guard let status = try store.control.status(of: file), try changes(in: folder)[file] == nil else {
      return try Catalog(self)
    }
    if let known = store.catalog(of: status) { return known }
    let catalog = try Catalog(self)
    store.keep(catalog, of: status)
    return catalog
  }

  /// The present contents of the first of several files, from before a look into the history.
  private func contents(of files: [String], in folder: String) throws -> [Contents?] {
    guard let folder = try self.folder(folder) else { return files.map { _ in nil } }
    return try withUnsafeTemporaryAllocation(byteCount: File.bufferSize, alignment: 16) { buffer in
      try Self.first(files.count, size: { $0?.bytes.count ?? 0 }) { number in
        try store.contents(of: files[number], in: folder, through: buffer)
      }
    }
  }

  /// The first of several files, each read by a closure, until ``sizeAhead`` bytes are read or the closure fails.
  ///
  /// It throws if the closure fails for the first file. After a later failure, the caller continues with that file.
  private static func first<Content>(
    _ count: Int, size: (Content) -> Int, _ read: (Int) throws -> Content
  ) throws -> [Content] {
    var contents: [Content] = []
    contents.reserveCapacity(count)
    var total = 0
    do {
      for number in 0..<count where total < sizeAhead {
        let content = try read(number)
        total += size(content)
        contents.append(content)
      }
    } catch {
      guard !contents.isEmpty else { throw error }
    }
    return contents
  }

  /// The text of a file in this version, from its present contents and the first later change.
  private func text(
    _ live: Contents?, _ before: Before?, _ file: String, _ folder: String
  ) throws -> FileText? {
    guard let before else { return try text(live, file, folder) }
    guard before.existed else { return nil }
    // The old file itself, or a copy with its times.
    guard let kept = try history(before.version)?.contents(of: "\(before.number)") else {
      throw PersistenceError.damaged(
        "the history of version \(before.version) in the store has lost the earlier file \(folder)/\(file)")
    }
    return try text(kept, file, folder).map { FileText(bytes: $0.bytes, written: $0.status) }
  }

  private func text(_ contents: Contents?, _ file: String, _ folder: String) throws -> FileText? {
    guard let (bytes, status) = contents else { return nil }
    if status.isModified(after: moment) { throw PersistenceError.changedByHand(file, in: folder) }
    return FileText(bytes: bytes, status: status)
  }

  private func folder(_ name: String) throws -> Folder? {
    if let known = folders.withLock({ $0[name] }) { return known }
    guard let folder = try store.folder(name) else { return nil }
    folders.withLock { $0[name] = folder }
    return folder
  }

  private func changes(in folder: String) throws -> [String: Before] {
    let newest = try store.sequence.applying
    return try changed.withLock { changed in
      while changed.version < newest {
        let next = changed.version + 1
        guard let folder = try history(next), let text = try folder.read(Journal.manifestName) else {
          throw PersistenceError.damaged("the history of version \(next) is missing from the store")
        }
        let manifest = try Manifest(text: text, path: folder.path(of: Journal.manifestName))
        for (number, change) in manifest.changes.enumerated()
        where changed.files[change.folder]?[change.file] == nil {
          changed.files[change.folder, default: [:]][change.file] = Before(
            version: next, number: number, existed: change.existed)
        }
        changed.version = next
      }
      return changed.files[folder] ?? [:]
    }
  }

  private func history(_ version: UInt64) throws -> Folder? {
    try store.ownFolder(Journal.historyName)?.folder("\(version)")
  }
}
