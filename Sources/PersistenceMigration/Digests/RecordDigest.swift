import Crypto

/// The SHA-256 digest of one record's canonical bytes.
///
/// The canonical bytes are those of the digest of the field names, sorted by their UTF-8 bytes, followed by the
/// values in that order: each its kind's tag and then its value in one form that no engine changes (integers,
/// doubles and dates as eight bytes with the greatest first, text, bytes, decimals and documents as their length
/// and their bytes, a UUID as its sixteen). So records of equal values have equal digests in any engine, in
/// whatever order the engine keeps their fields.
public struct RecordDigest: Sendable, Hashable {
  let words: (UInt64, UInt64, UInt64, UInt64)

  init(_ digest: SHA256.Digest) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { target in digest.withUnsafeBytes { target.copyMemory(from: $0) } }
    // The first byte of the digest is the most significant one of the number that it stands for.
    self.words = (words.3.bigEndian, words.2.bigEndian, words.1.bigEndian, words.0.bigEndian)
  }

  /// Whether two digests are the same.
  public static func == (left: RecordDigest, right: RecordDigest) -> Bool { left.words == right.words }

  /// Feeds the digest into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}
