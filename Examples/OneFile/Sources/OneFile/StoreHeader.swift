import PersistenceDriver

/// The first bytes of a store: the file format and the version of the content.
///
/// A reader needs only the header to see whether another process has committed.
struct StoreHeader: Sendable, Equatable {
  /// The size of the header, in bytes.
  static let size = 40
  /// The first eight bytes of every store, which include the format's version.
  private static let mark: UInt64 = 0x3130_656C_6946_314F  // "O1File01"

  /// The number of committed transactions.
  var commit: UInt64
  /// The number of bytes after the header.
  var length: UInt64
  /// A checksum over the checksums of all frames.
  var content: UInt64

  /// Appends the header and its checksum.
  func append(to bytes: inout [UInt8]) {
    for word in [Self.mark, commit, length, content, checksum] { bytes.append(word: word) }
  }

  /// Decodes the header of a file.
  init(_ bytes: UnsafeRawBufferPointer) throws {
    var reader = ByteReader(bytes)
    guard bytes.count >= 8, try reader.word() == Self.mark else {
      throw PersistenceError(.notAStore, "the file is not a store of this context; check the path")
    }
    (commit, length, content) = (try reader.word(), try reader.word(), try reader.word())
    guard try reader.word() == checksum else {
      throw PersistenceError.damaged("the checksum of the store's header does not match")
    }
  }

  init(commit: UInt64, length: UInt64, content: UInt64) {
    (self.commit, self.length, self.content) = (commit, length, content)
  }

  private var checksum: UInt64 {
    var checksum = Checksum()
    for word in [commit, length, content] { checksum.add(word) }
    return checksum.value
  }
}
