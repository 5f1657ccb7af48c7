import Foundation
import PersistenceDriver

/// Writes bytes, with numbers in little-endian order.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func put(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

  /// Writes a length and the bytes.
  mutating func putCounted(_ more: some Collection<UInt8>) {
    put(UInt32(clamping: more.count))
    put(more)
  }

  mutating func put(_ time: FileTime) {
    put(Int64(time.seconds))
    put(UInt32(clamping: time.nanoseconds))
  }

  /// Writes a cell: its tag, and the bytes of its kind.
  mutating func put(_ cell: RowCell) {
    put(cell.tag.rawValue)
    switch cell.tag {
    case .null: break
    case .bool: put(UInt8(cell.boolValue ? 1 : 0))
    case .integer: put(cell.integerValue)
    case .double, .date: put(cell.doubleValue.bitPattern)
    case .uuid: withUnsafeBytes(of: cell.uuidValue.uuid) { put($0) }
    case .text, .bytes, .decimal, .document: putCounted(cell.borrowedBytes)
    }
  }
}
