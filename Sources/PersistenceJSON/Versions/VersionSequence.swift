import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// The version numbers that all processes share: the newest complete version, the newest that has begun to appear in the
/// folders, and the newest up to which all versions survive a power failure.
///
/// The first two differ while a writer moves a committed version into place, or after it died in between. Readers of
/// the complete version then look for each file's previous state.
///
/// The third one is below the first after commits that were not flushed. Earlier releases of the package neither write
/// nor read it; then it is too low, and the next synchronized commit flushes once more than it must.
final class VersionSequence: Sendable {
  static let name = "sequence"
  private static let size = 24
  private let file: File
  let identity: FileIdentity
  /// The version that ``settled`` saw last; ``limit`` for none.
  private let seen = Atomic<UInt64>(VersionSequence.limit)

  init(_ file: File) throws {
    self.file = file
    identity = try file.identity()
  }

  /// A limit that no store reaches.
  static let limit: UInt64 = 1 << 48

  /// The newest complete version.
  var committed: UInt64 { get throws { try read().committed } }

  /// The newest version that has begun to appear.
  var applying: UInt64 { get throws { try read().applying } }

  /// A version that was complete at some earlier moment, when no later one had begun; nil while a version appears.
  ///
  /// It needs a system call only if ``settled`` has seen none.
  var lastSettled: UInt64? {
    get throws {
      let version = seen.load(ordering: .acquiring)
      return try version == Self.limit ? settled : version
    }
  }

  /// The version that is complete now, if no later one has begun; nil while a version appears.
  var settled: UInt64? {
    get throws {
      let numbers = try read()
      let version = numbers.applying == numbers.committed ? numbers.committed : nil
      seen.store(version ?? Self.limit, ordering: .releasing)
      return version
    }
  }

  func read() throws -> (committed: UInt64, applying: UInt64, durable: UInt64) {
    var bytes: (UInt64, UInt64, UInt64) = (0, 0, 0)
    let count = withUnsafeMutableBytes(of: &bytes) { pread(file.descriptor, $0.baseAddress, Self.size, 0) }
    guard count >= 0 else { throw SystemFailure("read the file", file.path) }
    let (committed, applying) = (UInt64(littleEndian: bytes.0), UInt64(littleEndian: bytes.1))
    // A version is a byte offset that can be locked, and only one version is in progress at a time.
    guard committed < Self.limit, applying < Self.limit else {
      throw PersistenceError.damaged("the store's file \(file.path) is damaged")
    }
    return (committed, applying, UInt64(littleEndian: bytes.2))
  }

  /// Reserves space, so that the numbers can be written on a full disk.
  func reserve() throws { try file.reserve(Self.size) }

  /// Records that a version begins to appear.
  func begin(_ version: UInt64) throws { try write([version], at: 8) }

  /// Records that a version is complete, and whether it and all versions before it are flushed.
  func publish(_ version: UInt64, isDurable: Bool) throws {
    // Nothing begins before the version is complete, so the number in between stays the same.
    try write(isDurable ? [version, version, version] : [version], at: 0)
  }

  /// Flushes the file.
  func synchronize() throws { try file.synchronize() }

  private func write(_ versions: [UInt64], at offset: Int) throws {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.size)
    for version in versions { withUnsafeBytes(of: version.littleEndian) { bytes.append(contentsOf: $0) } }
    try file.write(bytes, at: offset)
  }
}
