import Foundation
import PersistenceDriver

extension KeyCodec {
  /// Fills a field of a row with the ascending component that begins at an index of a key, which is moved beyond it.
  ///
  /// Text and bytes are pointed at where no escape stands in them. What is filled in is what the record holds: kinds
  /// that may be indexed have one encoding for each value that can be stored, so nothing is lost on the way.
  ///
  /// - Parameters:
  ///   - position: The field; nil where the component is only passed over.
  ///   - row: The row that is filled.
  ///   - key: The key.
  ///   - index: Where the component begins.
  /// - Returns: Whether bytes were copied into the row's own memory.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the bytes are no component.
  static func fill(
    _ position: Int?, of row: RowBuffer, from key: UnsafeRawBufferPointer, at index: inout Int
  ) throws -> Bool {
    guard let position else {
      try skip(in: key, at: &index)
      return false
    }
    let code = try byte(in: key, at: &index)
    guard code >= nilCode, let tag = RowCell.Tag(rawValue: code - nilCode) else { throw malformed }
    let cell: RowCell
    switch tag {
    case .null: cell = .null
    case .bool:
      let truth = try byte(in: key, at: &index)
      guard truth <= 1 else { throw malformed }
      cell = .bool(truth == 1)
    case .integer: cell = .integer(Int64(bitPattern: try number(in: key, at: &index) ^ (1 << 63)))
    case .double: cell = .double(try double(in: key, at: &index))
    case .date: cell = .date(try double(in: key, at: &index))
    case .uuid:
      guard key.count - index >= 16 else { throw malformed }
      cell = .uuid(UUID(uuid: key.loadUnaligned(fromByteOffset: index, as: uuid_t.self)))
      index += 16
    case .decimal:
      let text = try decimalText(in: key, at: &index)
      guard let number = Decimal(canonicalText: text) else { throw malformed }
      row.setDecimal(number, at: position)
      return true
    case .text, .bytes, .document:
      let start = index
      let isEscaped = try skipRun(in: key, at: &index)
      guard !isEscaped else {
        index = start
        let bytes = try run(in: key, at: &index)
        bytes.withUnsafeBytes { row.setCopy(of: borrowed(tag, $0), at: position) }
        return true
      }
      cell = borrowed(tag, UnsafeRawBufferPointer(rebasing: key[start..<index - 1]))
    }
    row.setCell(cell, at: position)
    return false
  }

  /// Passes over the ascending component that begins at an index of a key.
  static func skip(in key: UnsafeRawBufferPointer, at index: inout Int) throws {
    let code = try byte(in: key, at: &index)
    guard code >= nilCode, let tag = RowCell.Tag(rawValue: code - nilCode) else { throw malformed }
    let length: Int
    switch tag {
    case .null: length = 0
    case .bool: length = 1
    case .integer, .double, .date: length = 8
    case .uuid: length = 16
    case .decimal: return try skipDecimal(in: key, at: &index)
    case .text, .bytes, .document:
      _ = try skipRun(in: key, at: &index)
      return
    }
    guard key.count - index >= length else { throw malformed }
    index += length
  }

  private static func borrowed(_ tag: RowCell.Tag, _ bytes: UnsafeRawBufferPointer) -> RowCell {
    switch tag {
    case .text: .text(bytes)
    case .bytes: .bytes(bytes)
    default: .document(bytes)
    }
  }

  /// Goes beyond text or bytes and what closes them; says whether there are escapes among them.
  private static func skipRun(in key: UnsafeRawBufferPointer, at index: inout Int) throws -> Bool {
    var isEscaped = false
    guard let base = key.baseAddress else { throw malformed }
    while index < key.count, let zero = memchr(base + index, 0, key.count - index) {
      index = UnsafeRawPointer(zero) - base + 1
      guard index < key.count, key[index] == afterAll else { return isEscaped }
      isEscaped = true
      index += 1
    }
    throw malformed
  }
}
