import Foundation
import PersistenceDriver

/// A bounds-checked reader of untrusted bytes: each method returns nil at the end.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  var rest: Int { bytes.count - position }

  mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
    guard rest >= MemoryLayout<Number>.size else { return nil }
    defer { position += MemoryLayout<Number>.size }
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Number.self))
  }

  mutating func run(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count >= 0, count <= rest else { return nil }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
  }

  /// A length and that many bytes.
  mutating func counted() -> UnsafeRawBufferPointer? { number(UInt32.self).flatMap { run(Int($0)) } }

  mutating func time() -> FileTime? {
    guard let seconds = number(Int64.self), let nanoseconds = number(UInt32.self),
      nanoseconds < 1_000_000_000
    else { return nil }
    return FileTime(seconds: Int(seconds), nanoseconds: Int(nanoseconds))
  }

  /// A cell that borrows the reader's bytes.
  mutating func cell() -> RowCell? {
    guard let tag = number(UInt8.self).flatMap(RowCell.Tag.init) else { return nil }
    switch tag {
    case .null: return .null
    case .bool:
      guard let byte = number(UInt8.self), byte < 2 else { return nil }
      return .bool(byte == 1)
    case .integer: return number(Int64.self).map { .integer($0) }
    case .double: return number(UInt64.self).map { .double(Double(bitPattern: $0)) }
    case .date: return number(UInt64.self).map { .date(Double(bitPattern: $0)) }
    case .uuid: return run(16).map { .uuid(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
    case .text: return counted().map { .text($0) }
    case .bytes: return counted().map { .bytes($0) }
    case .decimal: return counted().map { .decimal($0) }
    case .document: return counted().map { .document($0) }
    }
  }
}
