internal import CSHA256

/// The SHA-256 digest of bytes that arrive in any number of parts (FIPS 180-4).
package struct SHA256 {
  /// The bytes of a digest.
  package static let byteCount = 32

  private var state = persistence_sha256()

  package init() { persistence_sha256_start(&state) }

  /// The digest of all bytes of `data`.
  package static func hash(data: some Collection<UInt8>) -> SHA256Digest {
    var hash = SHA256()
    hash.update(data: data)
    return hash.finalize()
  }

  package mutating func update(data: some Collection<UInt8>) {
    let isContiguous: Void? = data.withContiguousStorageIfAvailable {
      update(bufferPointer: UnsafeRawBufferPointer($0))
    }
    if isContiguous == nil { update(data: Array(data)) }
  }

  package mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
    persistence_sha256_add(&state, bytes.baseAddress, bytes.count)
  }

  /// The digest of the bytes so far, after which more may follow.
  package func finalize() -> SHA256Digest {
    var last = state
    var digest = SHA256Digest()
    withUnsafeMutableBytes(of: &digest.words) { bytes in
      persistence_sha256_finish(&last, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }
    return digest
  }
}
