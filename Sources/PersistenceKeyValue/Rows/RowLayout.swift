package import PersistenceDriver

/// Where each field of a declared schema lies in the packed rows of the stored one.
///
/// The two may name their fields in another order; positions are always those of the declared schema.
package final class RowLayout: @unchecked Sendable {  // immutable after init
  /// How a field that is not nil is written.
  enum Form: UInt8 {
    /// Eight bytes.
    case word
    /// The place where it ends in the variable part.
    case variable
    /// One byte.
    case bool
    /// Sixteen bytes.
    case uuid
    /// Not at all.
    case none
  }

  /// Where a field lies.
  struct Slot {
    /// The tag of its cells that are not nil.
    let tag: RowCell.Tag
    let form: Form
    let isOptional: Bool
    let nilBit: UInt8
    let nilByte: Int32
    /// Where its value, or the place where it ends, stands in the row.
    let offset: Int32
    /// Where it stands where the field of variable length before it ends; 0 where there is none.
    let previousEnd: Int32
  }

  /// How many fields there are.
  let count: Int
  /// The slots by declared position.
  let slots: UnsafeMutablePointer<Slot>
  /// The declared positions in the order of the stored schema.
  let storedOrder: UnsafeMutablePointer<Int32>
  let storedCount: Int
  /// Where the variable part begins.
  let fixedLength: Int
  /// Whether there are fields of variable length.
  let hasVariable: Bool
  /// What every row begins with.
  let head: UInt32
  /// The declared schema.
  package let schema: ModelSchema

  /// Prepares the layout of a stored schema for a declared one that is compatible with it.
  package init(stored: ModelSchema, declared: ModelSchema, revision: UInt16 = 1) {
    schema = declared
    head = UInt32(PackedRow.format) | UInt32(revision) << 16
    count = declared.fields.count
    var order: [Int32] = []
    var found: [Slot?] = Array(repeating: nil, count: declared.fields.count)
    var offset = PackedRow.headerLength + (stored.fields.count + 7) / 8
    var previousEnd = 0
    for (number, field) in stored.fields.enumerated() {
      let form = Self.form(of: field.kind.tag)
      let slot = Slot(
        tag: field.kind.tag, form: form, isOptional: field.isOptional, nilBit: 1 << UInt8(number % 8),
        nilByte: Int32(PackedRow.headerLength + number / 8), offset: Int32(offset),
        previousEnd: Int32(previousEnd))
      switch form {
      case .bool: offset += 1
      case .uuid: offset += 16
      case .word, .none: offset += 8
      case .variable:
        previousEnd = offset
        offset += 4
      }
      guard let position = declared.position(of: field.name) else { continue }
      found[position] = slot
      order.append(Int32(position))
    }
    fixedLength = offset
    hasVariable = previousEnd != 0
    storedCount = order.count
    storedOrder = .allocate(capacity: max(1, count))
    storedOrder.initialize(from: order, count: order.count)
    slots = .allocate(capacity: max(1, count))
    let missing = Slot(
      tag: .null, form: .none, isOptional: true, nilBit: 0, nilByte: Int32(PackedRow.headerLength), offset: 0,
      previousEnd: 0)
    for position in 0..<count { (slots + position).initialize(to: found[position] ?? missing) }
  }

  deinit {
    slots.deallocate()
    storedOrder.deallocate()
  }

  private static func form(of tag: RowCell.Tag) -> Form {
    switch tag {
    case .integer, .double, .date: .word
    case .text, .bytes, .decimal, .document: .variable
    case .bool: .bool
    case .uuid: .uuid
    case .null: .none
    }
  }
}
