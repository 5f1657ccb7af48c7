/// The place of a field in the packed records of one layout.
@usableFromInline
package struct PackedField: BitwiseCopyable {
  /// The tag of cells that are not nil; `null` if the records lack the field.
  @usableFromInline package let tag: RowCell.Tag
  package let isOptional: Bool
  /// The bit that is set if the field is nil, and the offset of its byte.
  @usableFromInline package let nilBit: UInt8
  @usableFromInline package let nilByte: Int32
  /// The offset of the value; for text, bytes, decimals and documents, the offset of its end in the variable part.
  @usableFromInline package let offset: Int32
  /// The offset of the end of the previous value in the variable part; 0 if there is none.
  @usableFromInline package let previousEnd: Int32

  package init(
    tag: RowCell.Tag, isOptional: Bool, nilBit: UInt8, nilByte: Int32, offset: Int32, previousEnd: Int32
  ) {
    self.tag = tag
    self.isOptional = isOptional
    self.nilBit = nilBit
    self.nilByte = nilByte
    self.offset = offset
    self.previousEnd = previousEnd
  }

  /// Whether the value is in the variable part.
  @inlinable package var isVariable: Bool {
    switch tag {
    case .text, .bytes, .decimal, .document: true
    case .null, .bool, .integer, .double, .date, .uuid: false
    }
  }
}

/// A packed record whose fields are read in place.
///
/// Its maker has checked the whole record: every offset lies in it, and no field is nil that must not be.
@usableFromInline
package struct PackedRecord: BitwiseCopyable {
  @usableFromInline let base: UnsafeRawPointer
  @usableFromInline let variable: UnsafeRawPointer
  @usableFromInline let fields: UnsafePointer<PackedField>

  /// Creates a record from its start, that of its variable part, and the places of its fields.
  package init(base: UnsafeRawPointer, variable: UnsafeRawPointer, fields: UnsafePointer<PackedField>) {
    self.base = base
    self.variable = variable
    self.fields = fields
  }

  /// The tag of a field's cell.
  @inlinable
  @inline(__always)
  package func tag(at position: Int) -> RowCell.Tag {
    let field = fields + position
    let nils = base.load(fromByteOffset: Int(field.pointee.nilByte), as: UInt8.self)
    return nils & field.pointee.nilBit == 0 ? field.pointee.tag : .null
  }

  /// The cell of a field with a known tag, which decides how it is read.
  @inlinable
  @inline(__always)
  package func cell(at position: Int, tag: RowCell.Tag) -> RowCell {
    let offset = Int(fields[position].offset)
    switch tag {
    case .null: return .null
    case .bool: return .bool(base.load(fromByteOffset: offset, as: UInt8.self) != 0)
    case .integer, .double, .date:
      return RowCell(
        tag: tag, bits: UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    case .uuid:
      // A cell contains the sixteen bytes unchanged.
      return RowCell(
        tag: .uuid, bits: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
        extra: base.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self))
    case .text, .bytes, .decimal, .document:
      let previous = Int(fields[position].previousEnd)
      let start = previous == 0 ? 0 : end(previous)
      return RowCell(
        tag: tag, bits: UInt64(truncatingIfNeeded: end(offset) &- start), pointer: variable + start)
    }
  }

  @inlinable
  @inline(__always)
  func end(_ offset: Int) -> Int {
    Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }
}

/// What the packed records of one layout fulfil beside their checksums, so that any field can be read without a check.
package struct PackedSoundness {
  /// The bits of a byte whose fields must not be nil.
  private struct Required {
    let offset: Int32
    var bits: UInt8
  }

  private let required: UnsafeMutableBufferPointer<Required>
  /// The offsets of Boolean values.
  private let bools: UnsafeMutableBufferPointer<Int32>
  /// The offsets of the ends of values in the variable part, in ascending order.
  private let ends: UnsafeMutableBufferPointer<Int32>

  /// Prepares the checks of records with fields at some places, in their order.
  package init(_ places: [PackedField]) {
    var required: [Required] = []
    for place in places where !place.isOptional {
      // The bits of fields that follow each other lie in the same byte.
      if required.last?.offset == place.nilByte {
        required[required.count - 1].bits |= place.nilBit
      } else {
        required.append(Required(offset: place.nilByte, bits: place.nilBit))
      }
    }
    self.required = Self.copy(required)
    bools = Self.copy(places.filter { $0.tag == .bool }.map(\.offset))
    ends = Self.copy(places.filter(\.isVariable).map(\.offset))
  }

  private static func copy<Item>(_ items: [Item]) -> UnsafeMutableBufferPointer<Item> {
    let copy = UnsafeMutableBufferPointer<Item>.allocate(capacity: items.count)
    _ = copy.initialize(from: items)
    return copy
  }

  /// Frees the memory; nothing is checked afterwards.
  package func deallocate() {
    required.deallocate()
    bools.deallocate()
    ends.deallocate()
  }

  /// Whether a record with at least its fixed part fulfils them.
  package func holds(_ base: UnsafeRawPointer, variableLength: Int) -> Bool {
    for byte in required {
      guard base.load(fromByteOffset: Int(byte.offset), as: UInt8.self) & byte.bits == 0 else { return false }
    }
    for offset in bools {
      guard base.load(fromByteOffset: Int(offset), as: UInt8.self) <= 1 else { return false }
    }
    var last = 0
    for offset in ends {
      let end = Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: Int(offset), as: UInt32.self)))
      guard last <= end else { return false }
      last = end
    }
    return last <= variableLength
  }
}
