import PersistenceDriver

/// Consecutive values of a catalog record, which are compared with expected ones in their encoded form.
///
/// Every opening of a store looks for models in its catalog, and most declare exactly what is stored.
struct EncodedValues {
  private let bytes: UnsafeRawBufferPointer
  private var index = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Whether no value follows.
  var isAtEnd: Bool { index == bytes.count }

  /// The next value; throws unless it is an integer.
  mutating func integer() throws -> Int64 {
    try expect(.integer)
    return Int64(bitPattern: try KeyCodec.number(in: bytes, at: &index) ^ (1 << 63))
  }

  /// The next value; throws unless it is a Boolean value.
  mutating func bool() throws -> Bool {
    try expect(.bool)
    let truth = try KeyCodec.byte(in: bytes, at: &index)
    guard truth <= 1 else { throw StoredModel.malformed }
    return truth == 1
  }

  /// Whether the next value is a text with the same bytes; throws unless it is a text.
  mutating func isText(_ text: String) throws -> Bool {
    guard index < bytes.count, bytes[index] == KeyCodec.code(of: .text) else { throw StoredModel.malformed }
    var place = index + 1
    try KeyCodec.skip(in: bytes, at: &index)
    let end = index - 1
    for byte in text.utf8 {
      guard place < end, bytes[place] == byte else { return false }
      // A zero is escaped by a second byte.
      place += byte == 0 ? 2 : 1
    }
    return place == end
  }

  /// Whether the next values are the length of a list and its texts.
  mutating func areTexts(_ texts: [String]) throws -> Bool {
    guard try integer() == Int64(texts.count) else { return false }
    for text in texts { guard try isText(text) else { return false } }
    return true
  }

  /// Moves behind the code of a value; throws unless the value is of this kind.
  private mutating func expect(_ tag: RowCell.Tag) throws {
    guard try KeyCodec.byte(in: bytes, at: &index) == KeyCodec.code(of: tag) else {
      throw StoredModel.malformed
    }
  }
}
