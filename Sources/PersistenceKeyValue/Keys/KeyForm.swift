import PersistenceDriver
import PersistencePrimitives

/// Maps full keys to stored keys, which have a limited length.
///
/// A full key that is too long is cut: a digest replaces its end, and the record contains the full key. A cut
/// key has exactly the store's largest length and other keys are shorter, so the two cannot be confused. Keys
/// that share the first ``runLength`` bytes of a cut key form a *run*. Within a run the store's order is not
/// the contract's; a reader sorts it by full key.
///
/// A record's key ends with one digest. An index entry's key ends with two, of its values and of its primary
/// key, so entries with equal values are adjacent whatever their length.
struct KeyForm {
  private static let digestLength = 32

  /// The longest key of the store.
  let longest: Int
  /// How many bytes of the full key a cut key keeps.
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

  /// Cuts the key of a record if it is too long.
  func storeRecordKey(_ key: ByteBuffer) {
    guard key.count >= longest else { return }
    let digest = SHA256.hash(data: key.bytes)
    key.truncate(to: runLength)
    digest.withUnsafeBytes { key.append($0) }
  }

  /// Cuts the key of an index entry if it is too long, and returns whether it was.
  ///
  /// The primary key begins at `split`.
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

  /// Turns values into the common prefix of all stored entries with exactly these values; returns whether it
  /// was cut.
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

  /// Whether an entry has exactly these values, given that its key begins with their stored prefix.
  func hasValues(_ stored: UnsafeRawBufferPointer, _ values: [UInt8]) -> Bool {
    if values.count > runLength { return true }
    if isCut(stored), values.count == runLength {
      return values.withUnsafeBytes { SHA256.hash(data: $0) }.elementsEqual(valuesDigest(of: stored))
    }
    // A text that continues with an escape is a longer one.
    return stored.count > values.count && stored[values.count] != KeyCodec.afterAll
  }
}
