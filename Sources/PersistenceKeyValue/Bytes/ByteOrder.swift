import PersistenceDriver

/// The order of byte strings, and the ends of ranges in it.
enum ByteOrder {
  /// Whether the bytes begin with a prefix.
  static func begins(_ bytes: UnsafeRawBufferPointer, with prefix: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= prefix.count
      && TotalOrder.compare(UnsafeRawBufferPointer(rebasing: bytes[..<prefix.count]), prefix) == 0
  }

  /// The least byte string that is greater than all that begin with the prefix; nil where there is none, that
  /// is where the prefix is all `FF`.
  static func next(after prefix: some Collection<UInt8>) -> [UInt8]? {
    var bytes = [UInt8](prefix)
    while let last = bytes.last {
      if last < 0xFF {
        bytes[bytes.count - 1] = last + 1
        return bytes
      }
      bytes.removeLast()
    }
    return nil
  }

  static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.withUnsafeBytes { left in right.withUnsafeBytes { TotalOrder.compare(left, $0) } }
  }
}
