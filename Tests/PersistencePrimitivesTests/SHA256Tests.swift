import CSHA256
import PersistencePrimitives
import Testing

/// The digests that FIPS 180-4 defines.
@Suite("SHA-256")
struct SHA256Tests {
  @Test(
    "The digests of the standard's examples",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func examples(text: String, digest: String) {
    #expect(SHA256.hash(data: text.utf8).hexadecimal == digest)
    #expect(portableDigest(Array(text.utf8)) == SHA256.hash(data: text.utf8))
  }

  @Test("The digest of a million letters, in parts of every length")
  func million() {
    var hash = SHA256()
    var left = 1_000_000
    var length = 0
    while left > 0 {
      let part = min(length, left)
      hash.update(data: repeatElement(UInt8(ascii: "a"), count: part))
      left -= part
      length = (length + 1) % 300
    }
    #expect(
      hash.finalize().hexadecimal == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test("The processor's instructions and the portable code agree at every length")
  func agreement() {
    let bytes = (0..<400).map { UInt8(truncatingIfNeeded: $0 * $0 + 7) }
    for length in bytes.indices {
      let part = Array(bytes[..<length])
      #expect(portableDigest(part) == SHA256.hash(data: part), "\(length) bytes")
    }
  }

  @Test("A digest can be taken before more bytes follow")
  func continued() {
    var hash = SHA256()
    hash.update(data: "ab".utf8)
    #expect(hash.finalize() == SHA256.hash(data: "ab".utf8))
    hash.update(data: "c".utf8)
    #expect(hash.finalize() == SHA256.hash(data: "abc".utf8))
    #expect(hash.finalize() != SHA256.hash(data: "ab".utf8))
    #expect(Array(hash.finalize()).count == SHA256.byteCount)
    #expect(hash.finalize().bytes == Array(hash.finalize()))
  }

  private func portableDigest(_ bytes: [UInt8]) -> SHA256Digest {
    var state = persistence_sha256()
    persistence_sha256_start_portably(&state)
    persistence_sha256_add(&state, bytes, bytes.count)
    var digest = [UInt8](repeating: 0, count: SHA256.byteCount)
    persistence_sha256_finish(&state, &digest)
    return SHA256Digest(digest)
  }
}

extension SHA256Digest {
  /// The digest with these bytes, of which there are 32.
  fileprivate init(_ bytes: [UInt8]) {
    self.init()
    withUnsafeMutableBytes(of: &self) { $0.copyBytes(from: bytes) }
  }
}
