import Foundation

/// The sixteen bytes of a UUID in memory.
enum UUIDBytes {
  @inline(__always)
  static func read(_ address: UnsafeRawPointer) -> UUID {
    UUID(uuid: address.loadUnaligned(as: uuid_t.self))
  }

  @inline(__always)
  static func write(_ uuid: UUID, to address: UnsafeMutableRawPointer) {
    withUnsafeBytes(of: uuid.uuid) { bytes in
      UnsafeMutableRawBufferPointer(start: address, count: 16).copyMemory(from: bytes)
    }
  }
}
