package import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Writes rows as canonical JSON, byte for byte as ``ValueWriter`` does, without a tree of
/// values for each row.
///
/// It owns the memory of its parts: with arrays, each row would count references that all threads share.
package final class RecordWriter: @unchecked Sendable {  // immutable after init
  private struct Part {
    let position: Int
    /// Whether the numbers of the field are floats, whose texts are shorter than those of doubles.
    let isFloat: Bool
    /// The end of the member's name in ``names``.
    let end: Int
  }

  private let fields: [FieldSchema]
  private let parts: UnsafeBufferPointer<Part>
  /// The members' names as JSON, one after the other, with the punctuation around them.
  private let names: UnsafeBufferPointer<UInt8>

  /// Creates a writer of rows that begin with these fields; it ignores further cells.
  package init(_ fields: [FieldSchema]) {
    let sorted = fields.indices.sorted { StoredName(fields[$0].name) < StoredName(fields[$1].name) }
    var (parts, names): ([Part], [UInt8]) = ([], [])
    for position in sorted {
      names.append(UInt8(ascii: parts.isEmpty ? "{" : ","))
      JSONText.append(JSONValue.string(fields[position].name), to: &names)
      names.append(UInt8(ascii: ":"))
      let isFloat = fields[position].kind == .float
      parts.append(Part(position: position, isFloat: isFloat, end: names.count))
    }
    (self.fields, self.parts, self.names) = (fields, Self.copy(parts), Self.copy(names))
  }

  deinit {
    parts.deallocate()
    names.deallocate()
  }

  private static func copy<Element>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
    let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
    _ = copy.initialize(from: elements)
    return UnsafeBufferPointer(copy)
  }

  /// Appends a row as one object.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if a decimal or a document is malformed.
  package func append(_ row: borrowing Row, to bytes: inout [UInt8]) throws {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: JSONPieces.capacity) { room in
      guard let room = room.baseAddress else { return }
      var pieces = JSONPieces(room)
      try append(row, &pieces, to: &bytes)
      pieces.flush(to: &bytes)
    }
  }

  private func append(_ row: borrowing Row, _ pieces: inout JSONPieces, to bytes: inout [UInt8]) throws {
    var start = 0
    for part in parts {
      pieces.append(UnsafeBufferPointer(rebasing: names[start..<part.end]), to: &bytes)
      start = part.end
      let cell = row[part.position]
      switch cell.tag {
      case .null: pieces.append(json: "null", to: &bytes)
      case .bool: pieces.append(json: cell.boolValue ? "true" : "false", to: &bytes)
      case .integer: pieces.append(integer: cell.integerValue, to: &bytes)
      case .double where !part.isFloat: pieces.append(double: cell.doubleValue, to: &bytes)
      case .date: pieces.append(date: cell.doubleValue, to: &bytes)
      case .uuid: pieces.append(uuid: cell.uuidValue, to: &bytes)
      case .bytes: pieces.append(base64: cell.borrowedBytes, to: &bytes)
      case .text: pieces.append(text: cell.borrowedText, to: &bytes)
      case .double, .decimal, .document:
        pieces.flush(to: &bytes)
        let value = try cell.value().normalized
        JSONText.append(try ValueWriter.json(value, fields[part.position]), to: &bytes)
      }
    }
    pieces.append(UInt8(ascii: "}"), to: &bytes)
  }
}
