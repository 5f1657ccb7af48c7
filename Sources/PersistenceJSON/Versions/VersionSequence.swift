#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

import PersistenceDriver

/// The two numbers by which readers and writers of all processes agree: the newest version that is whole, and the
/// newest that has begun to show in the folders.
///
/// They differ while a writer puts a committed version into place, or where one died doing so. Readers of the
/// whole version then look for what each file was before.
final class VersionSequence: Sendable {
  static let name = "sequence"
  private let file: File

  init(_ file: File) { self.file = file }

  /// More versions than any store lives to see.
  private static let limit: UInt64 = 1 << 48

  /// The newest version that is whole.
  var committed: UInt64 { get throws { try read().committed } }

  /// The newest version of which anything shows.
  var applying: UInt64 { get throws { try read().applying } }

  func read() throws -> (committed: UInt64, applying: UInt64) {
    var bytes: (UInt64, UInt64) = (0, 0)
    let count = withUnsafeMutableBytes(of: &bytes) { pread(file.descriptor, $0.baseAddress, 16, 0) }
    guard count >= 0 else { throw SystemFailure("read the file", file.path) }
    let (committed, applying) = (UInt64(littleEndian: bytes.0), UInt64(littleEndian: bytes.1))
    // Versions are bytes that can be locked, and one begins to show at a time.
    guard committed < Self.limit, applying < Self.limit else {
      throw PersistenceError.damaged("the store's file \(file.path) is damaged")
    }
    return (committed, applying)
  }

  /// Makes sure that the numbers can be written on a full disk.
  func reserve() throws { try file.reserve(16) }

  /// Says that a version begins to show.
  func begin(_ version: UInt64) throws { try write(version, at: 8) }

  /// Says that a version is whole.
  func publish(_ version: UInt64) throws { try write(version, at: 0) }

  private func write(_ version: UInt64, at offset: Int) throws {
    try file.write(withUnsafeBytes(of: version.littleEndian) { Array($0) }, at: offset)
  }
}
