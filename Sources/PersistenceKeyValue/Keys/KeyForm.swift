import Crypto
import PersistenceDriver

/// How full keys become keys that the store takes.
///
/// A full key that is too long is cut: its first bytes are followed by digests of what it says in full, and the
/// record holds the key itself. A cut key is exactly as long as the store allows and a whole one is shorter, so
/// that neither can be taken for the other. Keys that share their first ``runLength`` bytes with a cut one form
/// a *run*, within which the store's order is not the contract's; whoever reads it sorts it by full key.
///
/// A record's key ends in one digest. An index entry's ends in two, of its values and of its primary key, so
/// that the entries of one value lie together, however long the value is.
struct KeyForm {
  private static let digestLength = 32

  /// The longest key that the store takes.
  let longest: Int
  /// How many bytes of a cut key are those of the full one.
  let runLength: Int

  static func records(longest: Int) -> KeyForm {
    KeyForm(longest: longest, runLength: longest - digestLength)
  }

  static func entries(longest: Int) -> KeyForm {
    KeyForm(longest: longest, runLength: longest - 2 * digestLength)
  }

  /// Whether a stored key is a cut one.
  func isCut(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count >= longest }

  /// Whether a stored key may belong to a run.
  func mayBeInRun(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count >= runLength }

  /// Cuts the key of a record where it is too long; says whether it was.
  @discardableResult
  func storeRecordKey(_ key: ByteBuffer) -> Bool {
    guard key.count >= longest else { return false }
    let digest = SHA256.hash(data: key.bytes)
    key.truncate(to: runLength)
    digest.withUnsafeBytes { key.append($0) }
    return true
  }

  /// Cuts the key of an index entry where it is too long.
  ///
  /// - Parameters:
  ///   - key: Prefix and values, then the primary key.
  ///   - split: Where the primary key begins.
  /// - Returns: Whether it was cut.
  @discardableResult
  func storeEntryKey(_ key: ByteBuffer, split: Int) -> Bool {
    guard key.count >= longest || split > runLength else { return false }
    let values = SHA256.hash(data: UnsafeRawBufferPointer(rebasing: key.bytes[..<split]))
    let primary = SHA256.hash(data: UnsafeRawBufferPointer(rebasing: key.bytes[split...]))
    key.truncate(to: runLength)
    values.withUnsafeBytes { key.append($0) }
    primary.withUnsafeBytes { key.append($0) }
    return true
  }

  /// What all stored entries begin with that have exactly these values; says whether it was cut.
  @discardableResult
  func storeEntryPrefix(_ key: ByteBuffer) -> Bool {
    guard key.count > runLength else { return false }
    let values = SHA256.hash(data: key.bytes)
    key.truncate(to: runLength)
    values.withUnsafeBytes { key.append($0) }
    return true
  }

  /// The digest of the values in the cut key of an index entry.
  func valuesDigest(of cut: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: cut[runLength..<(runLength + Self.digestLength)])
  }

  /// Whether an entry has exactly these values.
  ///
  /// - Parameters:
  ///   - stored: The entry's key, which begins with what ``storeEntryPrefix(_:)`` makes of the values.
  ///   - values: The values.
  /// - Returns: Whether it has.
  func hasValues(_ stored: UnsafeRawBufferPointer, _ values: [UInt8]) -> Bool {
    if values.count > runLength { return true }
    if isCut(stored), values.count == runLength {
      return values.withUnsafeBytes { SHA256.hash(data: $0) }.elementsEqual(valuesDigest(of: stored))
    }
    // What goes on with an escape is a longer text, not the same one.
    return stored.count > values.count && stored[values.count] != KeyCodec.afterAll
  }
}
