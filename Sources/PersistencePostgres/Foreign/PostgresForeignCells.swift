import Foundation
import PersistenceDriver

/// Values as other programs store them.
extension PostgresResult {
  /// Sets a cell of a buffer from a binary value; false if the kind cannot represent the value exactly.
  static func setForeign(
    _ buffer: RowBuffer, at position: Int, _ tag: RowCell.Tag, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    switch tag {
    case .text: buffer.setCell(.text(bytes), at: position)
    case .integer:
      guard let integer = integer(bytes) else { return false }
      buffer.setCell(.integer(integer), at: position)
    case .double where bytes.count == 4:
      let number = Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
      buffer.setCell(.double(Double(number)), at: position)
    case .date:
      guard let seconds = seconds(bytes) else { return false }
      buffer.setCell(.date(seconds), at: position)
    case .decimal:
      guard let text = PostgresNumeric.canonicalText(bytes), isDecimal(text) else { return false }
      text.withUnsafeBytes { buffer.setCopy(of: .decimal($0), at: position) }
    case .null, .bool, .double, .bytes, .uuid, .document: return set(buffer, at: position, tag, bytes)
    }
    return true
  }

  private static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    switch bytes.count {
    case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    default: nil
    }
  }

  /// The date of a moment, or of a day, which has four bytes.
  private static func seconds(_ bytes: UnsafeRawBufferPointer) -> Double? {
    switch bytes.count {
    case 8: PostgresMoment.exactSeconds(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
    case 4: PostgresMoment.seconds(ofDay: Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    default: nil
    }
  }

  /// Whether a decimal has the digits of a canonical text; each has up to 38 of them.
  private static func isDecimal(_ text: [UInt8]) -> Bool {
    if text.count <= 38 { return true }
    let text = String(decoding: text, as: UTF8.self)
    return Decimal(canonicalText: text)?.canonicalText == text
  }
}

extension RecordKey {
  /// Whether the key has a text that no table of another program can hold.
  var hasForeignText: Bool {
    values.contains { if case .text(let text) = $0 { text.utf8.contains(0) } else { false } }
  }
}
