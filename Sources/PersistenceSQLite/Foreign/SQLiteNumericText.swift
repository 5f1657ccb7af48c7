import PersistenceDriver
import PersistenceSQL

/// Texts that a column of another program's table would store as numbers, and so not return (contract V2).
extension SQLiteModel {
  /// Throws if SQLite would store a text of a row as a number.
  func requireUnconverted(_ row: borrowing Row) throws {
    for position in textConverters where !row[position].isNull {
      guard SQLiteAffinity.isNumber(row[position].borrowedBytes) else { continue }
      throw conversion(position, key: try RecordKey(of: row, in: schema))
    }
  }

  /// Throws if SQLite would store an assigned text as a number.
  func requireUnconverted(_ values: [(position: Int, value: PersistentValue)]) throws {
    for (position, value) in values where textConverters.contains(position) {
      guard case .text(var text) = value else { continue }
      if text.withUTF8({ SQLiteAffinity.isNumber(UnsafeRawBufferPointer($0)) }) { throw conversion(position) }
    }
  }

  private func conversion(_ position: Int, key: RecordKey? = nil) -> PersistenceError {
    PersistenceError(
      .invalidRequest,
      "SQLite would store a text as a number in the column “\(table.columns[position].name)” of the table "
        + "“\(table.name)”, because of the column's declared type; declare the column as TEXT, or write a "
        + "text that is not a number",
      model: schema.name, field: schema.fields[position].name, key: key)
  }
}

extension SQLiteAffinity {
  /// Whether the affinities of numbers convert a text: a decimal number, with spaces around it.
  ///
  /// They convert any number, even one that loses digits (`applyNumericAffinity` in SQLite's `vdbe.c`).
  static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
    var index = text.startIndex
    func skipAll(while isSkipped: (UInt8) -> Bool) -> Int {
      let start = index
      while index < text.endIndex, isSkipped(text[index]) { index += 1 }
      return index - start
    }
    func skipOne(of bytes: UInt8...) -> Bool {
      guard index < text.endIndex, bytes.contains(text[index]) else { return false }
      index += 1
      return true
    }
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    let (plus, minus, point) = (UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."))
    _ = skipAll(while: isSpace)
    _ = skipOne(of: plus, minus)
    var digits = skipAll(while: isDigit)
    if skipOne(of: point) { digits += skipAll(while: isDigit) }
    guard digits > 0 else { return false }
    if skipOne(of: UInt8(ascii: "e"), UInt8(ascii: "E")) {
      _ = skipOne(of: plus, minus)
      guard skipAll(while: isDigit) > 0 else { return false }
    }
    _ = skipAll(while: isSpace)
    return index == text.endIndex
  }
}
