package import PersistenceDriver

/// Where each field of a declared schema lies in the packed rows of the stored one.
///
/// The two may name their fields in another order; positions are always those of the declared schema.
package final class RowLayout: @unchecked Sendable {  // immutable after init
  /// Where a field lies.
  struct Slot {
    /// The tag of its cells that are not nil.
    let tag: RowCell.Tag
    let isOptional: Bool
    /// Where its value, or the place where it ends, stands in the row.
    let offset: Int
    /// Where it stands where the field of variable length before it ends; 0 where there is none.
    let previousEnd: Int
    let nilByte: Int
    let nilBit: UInt8

    var isVariable: Bool {
      switch tag {
      case .text, .bytes, .decimal, .document: true
      default: false
      }
    }
  }

  /// How many fields there are.
  let count: Int
  /// The slots by declared position.
  let slots: UnsafeMutablePointer<Slot>
  /// The declared positions in the order of the stored schema.
  let storedOrder: [Int]
  /// Where the variable part begins.
  let fixedLength: Int
  let revision: UInt16
  /// The declared schema.
  package let schema: ModelSchema

  /// Prepares the layout of a stored schema for a declared one that is compatible with it.
  package init(stored: ModelSchema, declared: ModelSchema, revision: UInt16 = 1) {
    schema = declared
    self.revision = revision
    count = declared.fields.count
    var order: [Int] = []
    var found: [Slot?] = Array(repeating: nil, count: declared.fields.count)
    var offset = PackedRow.headerLength + (stored.fields.count + 7) / 8
    var previousEnd = 0
    for (number, field) in stored.fields.enumerated() {
      let slot = Slot(
        tag: field.kind.tag, isOptional: field.isOptional, offset: offset, previousEnd: previousEnd,
        nilByte: PackedRow.headerLength + number / 8, nilBit: 1 << UInt8(number % 8))
      switch field.kind.tag {
      case .bool: offset += 1
      case .uuid: offset += 16
      case .integer, .double, .date, .null: offset += 8
      case .text, .bytes, .decimal, .document:
        previousEnd = offset
        offset += 4
      }
      guard let position = declared.position(of: field.name) else { continue }
      found[position] = slot
      order.append(position)
    }
    storedOrder = order
    fixedLength = offset
    slots = .allocate(capacity: max(1, count))
    let missing = Slot(
      tag: .null, isOptional: true, offset: 0, previousEnd: 0, nilByte: PackedRow.headerLength, nilBit: 0)
    for position in 0..<count { (slots + position).initialize(to: found[position] ?? missing) }
  }

  deinit { slots.deallocate() }
}
