package import PersistenceDriver

/// The layout of a stored schema's packed rows, indexed by the fields of a declared schema.
///
/// The two schemas may order their fields differently; positions always refer to the declared schema.
package final class RowLayout: @unchecked Sendable {  // immutable after init
  let count: Int
  /// The places of the fields by declared position.
  let places: UnsafeMutablePointer<PackedField>
  /// What a sound record fulfils beside its checksums.
  private let soundness: PackedSoundness
  /// The declared positions in the order of the stored schema.
  let storedOrder: UnsafeMutablePointer<Int32>
  let storedCount: Int
  /// The number of bytes with the bits of nil fields.
  let nilCount: Int
  /// The offset of the variable part.
  let fixedLength: Int
  /// Whether the schema has fields of variable length.
  let hasVariable: Bool
  /// The first four bytes of every row, except rows of an earlier revision.
  let head: UInt32
  package let schema: ModelSchema
  /// Decodes rows of earlier revisions; nil if the model's schema never changed.
  let earlier: EarlierRows?

  /// Computes the layout of a stored schema for a compatible declared one.
  package convenience init(stored: ModelSchema, declared: ModelSchema, revision: UInt16 = 1) {
    self.init(
      stored.fields.map(RowRevision.Field.init), at: declared.fields.map { stored.position(of: $0.name) },
      declared,
      revision: revision)
  }

  /// Computes the layout of rows with some fields, given the number of each declared field among them; a field without
  /// a number is nil.
  init(
    _ fields: [RowRevision.Field], at numbers: [Int?], _ declared: ModelSchema, revision: UInt16,
    earlier: EarlierRows? = nil
  ) {
    schema = declared
    self.earlier = earlier
    head = UInt32(PackedRow.format) | UInt32(revision) << 16
    count = declared.fields.count
    var found: [PackedField] = []
    nilCount = (fields.count + 7) / 8
    var offset = PackedRow.headerLength + nilCount
    var previousEnd = 0
    for (number, field) in fields.enumerated() {
      let place = PackedField(
        tag: field.kind.tag, isOptional: field.isOptional, nilBit: 1 << UInt8(number % 8),
        nilByte: Int32(PackedRow.headerLength + number / 8), offset: Int32(offset),
        previousEnd: Int32(previousEnd))
      found.append(place)
      if place.isVariable { previousEnd = offset }
      offset += place.length
    }
    soundness = PackedSoundness(found)
    let order = numbers.indices.filter { numbers[$0] != nil }
      .sorted { (numbers[$0] ?? 0) < (numbers[$1] ?? 0) }.map { Int32($0) }
    fixedLength = offset
    hasVariable = previousEnd != 0
    storedCount = order.count
    storedOrder = .allocate(capacity: max(1, count))
    storedOrder.initialize(from: order, count: order.count)
    places = .allocate(capacity: max(1, count))
    let missing = PackedField(
      tag: .null, isOptional: true, nilBit: 0, nilByte: Int32(PackedRow.headerLength), offset: 0,
      previousEnd: 0)
    for position in 0..<count {
      (places + position).initialize(to: numbers[position].map { found[$0] } ?? missing)
    }
  }

  deinit {
    places.deallocate()
    soundness.deallocate()
    storedOrder.deallocate()
  }
}

extension PackedField {
  /// The number of bytes of the field in the fixed part.
  fileprivate var length: Int {
    switch tag {
    case .bool: 1
    case .text, .bytes, .decimal, .document: 4
    case .integer, .double, .date, .null: 8
    case .uuid: 16
    }
  }

  /// Whether the value takes eight bytes.
  var isWord: Bool { tag == .integer || tag == .double || tag == .date }
}

/// Decoding in place: after the checks, cells point into the row.
///
/// No input makes a read leave the row: every offset is checked against its length.
extension RowLayout {
  /// The record in a row, for reading its fields in place; nil if the row has an earlier revision or is damaged, which
  /// ``fill(_:from:)`` tells.
  ///
  /// - Complexity: Linear in the row's length, several bytes a cycle.
  @inline(__always)
  func record(in row: UnsafeRawBufferPointer) -> PackedRecord? {
    guard let base = start(of: row), isFixedSound(base, row.count),
      !hasVariable || isVariableSound(base, row.count),
      soundness.holds(base, variableLength: row.count &- fixedLength)
    else { return nil }
    return PackedRecord(base: base, variable: base + fixedLength, fields: places)
  }

  /// Checks a row and decodes all its fields.
  ///
  /// - Complexity: Linear in the row's length, several bytes a cycle.
  @inline(__always)
  package func fill(_ buffer: RowBuffer, from row: UnsafeRawBufferPointer) throws {
    guard let base = start(of: row) else { return try fillEarlier(buffer, from: row, only: nil) }
    try checkFixed(base, row.count)
    if hasVariable { try checkVariable(base, row.count) }
    let (cells, count) = (buffer.storage, min(count, buffer.count))
    var position = 0
    while position < count {
      cells[position] = try cell(at: position, in: base, count: row.count)
      position &+= 1
    }
  }

  /// Checks the parts of a row that contain some positions, and decodes the fields there.
  package func fill(_ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: [Int]) throws {
    var check = RowCheck.nothing
    try positions.withUnsafeBufferPointer { try fill(buffer, from: row, only: $0, &check) }
  }

  /// The same for unretained positions, if a part of the row may have been checked already.
  @inline(__always)
  func fill(
    _ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: UnsafeBufferPointer<Int>,
    _ check: inout RowCheck
  ) throws {
    let base: UnsafeRawPointer
    if check == .nothing {
      // A row of an earlier revision stays unchecked, so that every call takes this path.
      guard let start = start(of: row) else { return try fillEarlier(buffer, from: row, only: positions) }
      try checkFixed(start, row.count)
      base = start
      check = .fixedPart
    } else {
      guard let checked = row.baseAddress else { throw RowDamage.cut.error }
      base = checked
    }
    let cells = buffer.storage
    for position in positions where position < buffer.count {
      if check == .fixedPart, places[position].isVariable {
        try checkVariable(base, row.count)
        check = .whole
      }
      cells[position] = try cell(at: position, in: base, count: row.count)
    }
  }

  /// Checks what is not checked of a row with this layout.
  @inline(__always)
  func checkRest(of row: UnsafeRawBufferPointer, _ check: inout RowCheck) throws {
    guard check == .fixedPart, hasVariable, let base = row.baseAddress else { return }
    try checkVariable(base, row.count)
    check = .whole
  }

  /// The start of a row with this layout's head and enough bytes for its fixed part; nil for any other row.
  @inline(__always)
  private func start(of row: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard row.count >= fixedLength, let base = row.baseAddress,
      base.loadUnaligned(as: UInt32.self).littleEndian == head
    else { return nil }
    return base
  }

  /// Decodes all fields of a row of an earlier revision, or some; throws if the row has no such revision.
  @inline(never)
  private func fillEarlier(
    _ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: UnsafeBufferPointer<Int>?
  ) throws {
    guard try earlier?.fill(buffer, from: row, only: positions) == true else {
      throw row.count < fixedLength ? RowDamage.cut.error : RowDamage.head.error
    }
  }

  /// Throws unless the row's fixed part is undamaged and the row has its original length.
  @inline(__always)
  private func checkFixed(_ base: UnsafeRawPointer, _ count: Int) throws {
    guard isFixedSound(base, count) else { throw RowDamage.checksum.error }
  }

  @inline(__always)
  private func isFixedSound(_ base: UnsafeRawPointer, _ count: Int) -> Bool {
    base.loadUnaligned(fromByteOffset: PackedRow.fixedChecksum, as: UInt32.self).littleEndian
      == PackedRow.fixedChecksum(base, fixedLength: fixedLength, count: count)
  }

  /// Throws unless the variable part is undamaged; the fixed part has been checked.
  @inline(__always)
  private func checkVariable(_ base: UnsafeRawPointer, _ count: Int) throws {
    guard isVariableSound(base, count) else { throw RowDamage.checksum.error }
  }

  @inline(__always)
  private func isVariableSound(_ base: UnsafeRawPointer, _ count: Int) -> Bool {
    base.loadUnaligned(fromByteOffset: PackedRow.variableChecksum, as: UInt32.self).littleEndian
      == PackedRow.variableChecksum(base, fixedLength: fixedLength, count: count)
  }

  /// The cell of a field in a row with sound checksums.
  @inline(__always)
  private func cell(at position: Int, in base: UnsafeRawPointer, count: Int) throws -> RowCell {
    let record = PackedRecord(base: base, variable: base + fixedLength, fields: places)
    let tag = record.tag(at: position)
    let place = places + position
    switch tag {
    case .null:
      guard place.pointee.isOptional else { throw misplaced(position, "is nil, but not optional") }
    case .bool:
      guard base.load(fromByteOffset: Int(place.pointee.offset), as: UInt8.self) <= 1 else {
        throw misplaced(position, "contains no Boolean")
      }
    case .text, .bytes, .decimal, .document:
      let end = Int(end(base, Int(place.pointee.offset)))
      let previous = Int(place.pointee.previousEnd)
      guard previous == 0 || self.end(base, previous) <= end, end <= count &- fixedLength else {
        throw misplaced(position, "lies outside the record")
      }
    case .integer, .double, .date, .uuid: break
    }
    return record.cell(at: position, tag: tag)
  }

  @inline(__always)
  private func end(_ base: UnsafeRawPointer, _ offset: Int) -> UInt32 {
    base.loadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian
  }

  @inline(never)
  private func misplaced(_ position: Int, _ what: String) -> PersistenceError {
    PersistenceError.damaged("the stored field “\(schema.fields[position].name)” \(what)")
  }
}

/// The part of a row that has been checked.
enum RowCheck {
  case nothing
  /// The numbers and all offsets.
  case fixedPart
  case whole
}

/// Damage of a whole row.
private enum RowDamage {
  case cut, head, checksum

  @inline(never)
  var error: PersistenceError {
    switch self {
    case .cut: .damaged("the record is truncated")
    case .head: .damaged("the record's header does not match its schema")
    case .checksum: .damaged("the record's checksum is wrong")
    }
  }
}
