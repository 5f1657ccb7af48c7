package import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Writes rows as canonical JSON, byte for byte as ``ValueWriter`` does, without a tree of
/// values for each row.
package struct RecordWriter: Sendable {
  private struct Part {
    let position: Int
    let field: FieldSchema
    /// The member's name as JSON, with the punctuation around it.
    let name: [UInt8]
  }

  private let parts: [Part]

  /// Creates a writer of rows that begin with these fields; it ignores further cells.
  package init(_ fields: [FieldSchema]) {
    let sorted = fields.indices.sorted { StoredName(fields[$0].name) < StoredName(fields[$1].name) }
    parts = sorted.enumerated().map { index, position in
      let field = fields[position]
      let name = (index == 0 ? "{" : ",") + JSONText.canonical(.string(field.name)) + ":"
      return Part(position: position, field: field, name: Array(name.utf8))
    }
  }

  package func append(_ row: borrowing Row, to bytes: inout [UInt8]) throws {
    for part in parts {
      bytes.append(contentsOf: part.name)
      let cell = row[part.position]
      switch cell.tag {
      case .null: bytes.append(contentsOf: "null".utf8)
      case .bool: bytes.append(contentsOf: (cell.boolValue ? "true" : "false").utf8)
      case .integer: bytes.append(contentsOf: "\(cell.integerValue)".utf8)
      case .text where cell.borrowedBytes.allSatisfy({ $0 < 0x80 }):
        JSONText.append(cell.borrowedBytes.bindMemory(to: UInt8.self), to: &bytes)
      default:
        // This includes text beyond ASCII, which is validated.
        let value = try cell.value().normalized
        bytes.append(contentsOf: JSONText.canonical(try ValueWriter.json(value, part.field)).utf8)
      }
    }
    bytes.append(UInt8(ascii: "}"))
  }
}
