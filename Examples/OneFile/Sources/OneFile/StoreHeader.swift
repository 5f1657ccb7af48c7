import PersistenceDriver

/// The first bytes of a store: what kind of file it is, and which of its contents this is.
///
/// The header is all that has to be read to know whether another process has committed.
struct StoreHeader: Sendable, Equatable {
  /// How many bytes it takes.
  static let size = 40
  /// The first eight bytes of every store, with the version of the format.
  private static let mark: UInt64 = 0x3130_656C_6946_314F  // "O1File01"

  /// How many transactions have been committed.
  var commit: UInt64
  /// How many bytes follow.
  var length: UInt64
  /// A checksum over the checksums of all that follows.
  var content: UInt64

  /// Appends the header, with a checksum of its own.
  func append(to bytes: inout [UInt8]) {
    for word in [Self.mark, commit, length, content, checksum] { bytes.append(word: word) }
  }

  /// Reads the header of a file.
  init(_ bytes: UnsafeRawBufferPointer) throws {
    var reader = ByteReader(bytes)
    guard bytes.count >= 8, try reader.word() == Self.mark else {
      throw PersistenceError(.notAStore, "the file is none that this context has written; check the path")
    }
    (commit, length, content) = (try reader.word(), try reader.word(), try reader.word())
    guard try reader.word() == checksum else {
      throw PersistenceError.damaged("the header of the store is not what was written")
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
