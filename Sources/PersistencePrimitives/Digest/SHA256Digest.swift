/// The 32 bytes of a SHA-256 digest.
package struct SHA256Digest: Sendable {
  /// The bytes as they lie in memory.
  var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  package init() {}

  /// The digest in 64 hexadecimal digits.
  package var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The bytes, copied at once: as a collection, the digest yields them one by one.
  package var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try Swift.withUnsafeBytes(of: words) { (bytes) throws(Failure) in try body(bytes) }
  }
}

extension SHA256Digest: Equatable {
  /// Compares all bytes, so that the time tells nothing about the first difference.
  package static func == (left: SHA256Digest, right: SHA256Digest) -> Bool {
    (left.words.0 ^ right.words.0) | (left.words.1 ^ right.words.1) | (left.words.2 ^ right.words.2)
      | (left.words.3 ^ right.words.3) == 0
  }
}

extension SHA256Digest: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { SHA256.byteCount }

  package subscript(position: Int) -> UInt8 { withUnsafeBytes { $0[position] } }
}
