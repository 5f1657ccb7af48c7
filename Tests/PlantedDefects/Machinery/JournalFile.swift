import Foundation
import PersistenceCore

/// A file of records that survives the loss of power, as long as it has no flaw.
///
/// A record is its length, a checksum and its bytes. The first record that does not match ends the file: the power was
/// lost while it was written. The whole file is replaced by renaming a synchronized draft over it.
final class JournalFile {
  /// The deviations from a durable file.
  struct Flaw: Sendable {
    var syncsCommits = true
    var syncsFolderAfterCreation = true
    var syncsFolderAfterReplacement = true
    var syncsDrafts = true
    /// Whether a draft is renamed first, and synchronized then.
    var syncsDraftsLate = false
    /// Whether the length of a record is believed without its checksum.
    var checksRecords = true
    /// Whether a failed synchronization is repeated, and its success believed.
    var repeatsFailedSync = false
    /// Whether a failed synchronization is ignored.
    var ignoresFailedSync = false
    /// Whether a commit whose synchronization failed is reported as one that left nothing.
    var deniesFailedSync = false
    /// Whether a failed write ends the process.
    var trapsAtFailedWrite = false
    /// Whether a failed write leaves its partial record, to which the next one is appended.
    var appendsToPartialRecords = false
    /// Whether commits are written through a stream of the C library, whose calls nobody can record.
    var writesThroughStreams = false
    /// Whether a commit is visible to readers before it is durable.
    var publishesEarly = false
  }

  private static let mark = [UInt8]("Journal1".utf8)
  private let path: String
  private let flaw: Flaw
  private var file: Int32 = -1
  private var length = 0

  /// Whether the file may hold bytes that are not known to be durable, so that it must be replaced before it grows.
  private(set) var isSuspect = false
  /// The number of records that were appended since the file was replaced.
  private(set) var count = 0

  init(_ path: String, _ flaw: Flaw) {
    self.path = path
    self.flaw = flaw
  }

  deinit { close() }

  func close() {
    if file >= 0 { _ = Foundation.close(file) }
    file = -1
  }

  var exists: Bool { access(path, F_OK) == 0 }

  /// Reads the whole records.
  ///
  /// A context that appends replaces the file first. The system may show bytes that it could not synchronize, and no
  /// later synchronization writes them.
  func read() throws -> [[UInt8]] {
    guard let bytes = FileManager.default.contents(atPath: path).map({ [UInt8]($0) }) else {
      throw PersistenceError.system(errno == 0 ? EIO : errno, while: "read", at: path)
    }
    guard bytes.starts(with: Self.mark) else {
      throw PersistenceError(.notAStore, "the file is not a journal; check the path", location: path)
    }
    var records: [[UInt8]] = []
    var offset = Self.mark.count
    while let record = Self.record(bytes, offset, checked: flaw.checksRecords) {
      records.append(record)
      offset += record.count + 16
    }
    return records
  }

  /// Appends a record, and makes it durable.
  func append(_ record: [UInt8]) throws {
    let frame = Self.frame(record)
    do {
      try write(frame, at: length)
    } catch {
      if flaw.appendsToPartialRecords { length += frame.count / 2 } else { isSuspect = true }
      throw error
    }
    if flaw.syncsCommits { try synchronizeCommit() }
    length += frame.count
    count += 1
  }

  private func synchronizeCommit() throws {
    do {
      try synchronize(file)
    } catch {
      if flaw.ignoresFailedSync { return }
      if flaw.repeatsFailedSync, fsync(file) == 0 { return }
      if flaw.deniesFailedSync { throw error }
      isSuspect = true
      throw PersistenceError(
        .outcomeUnknown, "the commit could not be synchronized; open the store again to see it",
        location: path)
    }
  }

  /// Replaces the file by records.
  func replace(with records: [[UInt8]]) throws {
    let isNew = !exists
    let draft = path + ".new"
    let new = Foundation.open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard new >= 0 else { throw PersistenceError.system(errno, while: "create", at: draft) }
    let bytes = records.reduce(into: Self.mark) { $0 += Self.frame($1) }
    do {
      try write(bytes, at: 0, to: new)
      if flaw.syncsDrafts, !flaw.syncsDraftsLate { try synchronize(new) }
      guard rename(draft, path) == 0 else { throw PersistenceError.system(errno, while: "rename", at: draft) }
      if flaw.syncsDraftsLate { try synchronize(new) }
    } catch {
      _ = Foundation.close(new)
      throw error
    }
    close()
    (file, length, count, isSuspect) = (new, bytes.count, 0, false)
    guard isNew ? flaw.syncsFolderAfterCreation : flaw.syncsFolderAfterReplacement else { return }
    do {
      try synchronizeFolder()
    } catch {
      // The new name may be lost, and with it the commits that follow.
      isSuspect = true
      throw PersistenceError(.outcomeUnknown, "the folder could not be synchronized", location: path)
    }
  }

  private func synchronizeFolder() throws {
    let folder = Foundation.open(
      URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { throw PersistenceError.system(errno, while: "open the folder of", at: path) }
    defer { _ = Foundation.close(folder) }
    try synchronize(folder)
  }

  private func synchronize(_ descriptor: Int32) throws {
    guard fsync(descriptor) == 0 else { throw PersistenceError.system(errno, while: "synchronize", at: path) }
  }

  private func write(_ bytes: [UInt8], at offset: Int, to descriptor: Int32? = nil) throws {
    if flaw.writesThroughStreams, descriptor == nil, let stream = fdopen(dup(file), "r+") {
      fseek(stream, offset, SEEK_SET)
      fwrite(bytes, 1, bytes.count, stream)
      guard fclose(stream) == 0 else { throw PersistenceError.system(errno, while: "write", at: path) }
      return
    }
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        pwrite(descriptor ?? file, $0.baseAddress, $0.count, off_t(offset + done))
      }
      if count < 0, errno == EINTR { continue }
      if count <= 0, flaw.trapsAtFailedWrite { abort() }
      guard count > 0 else { throw PersistenceError.system(errno, while: "write", at: path) }
      done += count
    }
  }

  private static func frame(_ record: [UInt8]) -> [UInt8] {
    [UInt64(record.count), checksum(record)].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    } + record
  }

  /// The record at an offset; nil if there is no whole one.
  private static func record(_ bytes: [UInt8], _ offset: Int, checked: Bool) -> [UInt8]? {
    func word(_ offset: Int) -> UInt64 {
      (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
    }
    guard offset + 16 < bytes.count, case let count = word(offset), count > 0,
      count <= UInt64(bytes.count - offset - 16)
    else { return nil }
    let record = Array(bytes[offset + 16..<offset + 16 + Int(count)])
    return !checked || checksum(record) == word(offset + 8) ? record : nil
  }

  /// FNV-1a.
  private static func checksum(_ record: [UInt8]) -> UInt64 {
    record.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
