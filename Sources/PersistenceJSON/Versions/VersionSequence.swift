import Foundation
import PersistenceDriver

/// The two version numbers that all processes share: the newest complete version, and the newest that has
/// begun to appear in the folders.
///
/// They differ while a writer moves a committed version into place, or after it died in between. Readers of
/// the complete version then look for each file's previous state.
final class VersionSequence: Sendable {
  static let name = "sequence"
  private let file: File

  init(_ file: File) { self.file = file }

  /// A limit that no store reaches.
  private static let limit: UInt64 = 1 << 48

  /// The newest complete version.
  var committed: UInt64 { get throws { try read().committed } }

  /// The newest version that has begun to appear.
  var applying: UInt64 { get throws { try read().applying } }

  func read() throws -> (committed: UInt64, applying: UInt64) {
    var bytes: (UInt64, UInt64) = (0, 0)
    let count = withUnsafeMutableBytes(of: &bytes) { pread(file.descriptor, $0.baseAddress, 16, 0) }
    guard count >= 0 else { throw SystemFailure("read the file", file.path) }
    let (committed, applying) = (UInt64(littleEndian: bytes.0), UInt64(littleEndian: bytes.1))
    // A version is a byte offset that can be locked, and only one version is in progress at a time.
    guard committed < Self.limit, applying < Self.limit else {
      throw PersistenceError.damaged("the store's file \(file.path) is damaged")
    }
    return (committed, applying)
  }

  /// Reserves space, so that the numbers can be written on a full disk.
  func reserve() throws { try file.reserve(16) }

  /// Records that a version begins to appear.
  func begin(_ version: UInt64) throws { try write(version, at: 8) }

  /// Records that a version is complete.
  func publish(_ version: UInt64) throws { try write(version, at: 0) }

  private func write(_ version: UInt64, at offset: Int) throws {
    try file.write(withUnsafeBytes(of: version.littleEndian) { Array($0) }, at: offset)
  }
}
