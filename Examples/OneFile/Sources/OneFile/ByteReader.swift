import PersistenceDriver

/// Reads numbers and byte runs in sequence; a read past the end throws, so a damaged length is an error.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  mutating func byte() throws -> UInt8 { try run(1)[0] }

  mutating func word() throws -> UInt64 {
    UInt64(littleEndian: try run(8).loadUnaligned(as: UInt64.self))
  }

  mutating func run(_ count: UInt64) throws -> UnsafeRawBufferPointer {
    guard count <= UInt64(bytes.count - offset) else {
      throw PersistenceError.damaged("a length in the file exceeds its size")
    }
    defer { offset += Int(count) }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)])
  }
}

extension [UInt8] {
  /// Appends a number in the file's byte order.
  mutating func append(word: UInt64) {
    Swift.withUnsafeBytes(of: word.littleEndian) { append(contentsOf: $0) }
  }
}
