import PersistenceDriver

/// Decodes rows of earlier revisions into the current fields.
final class EarlierRows: @unchecked Sendable {  // immutable after init
  private struct Revision {
    /// The layout, in which a field that the rows lack is nil.
    let layout: Unmanaged<RowLayout>
    /// The values of fields that the layout decodes as nil, by position; it owns their bytes.
    let fills: RowBuffer
    /// The positions of the values that are not nil.
    let filled: [Int]
  }

  /// The number of the oldest revision.
  private let first: Int
  /// Not an array: a row would count the references of its layout, and of the values.
  private let revisions: UnsafeMutableBufferPointer<Revision>

  /// Computes the layouts of a model's earlier revisions for a declared schema.
  init(_ evolution: ModelEvolution, stored: ModelSchema, declared: ModelSchema) {
    first = Int(evolution.revision) - evolution.earlier.count
    let positions = declared.fields.map { stored.position(of: $0.name) }
    let made = evolution.earlier.enumerated().map { [first] number, revision in
      let sources = positions.map { $0.map { revision.sources[$0] } }
      let fills = RowBuffer(count: sources.count)
      var numbers: [Int?] = []
      for (position, source) in sources.enumerated() {
        switch source {
        case .field(let number, let replacement):
          numbers.append(number)
          fills.set(replacement ?? .null, at: position)
        case .fill(let value):
          numbers.append(nil)
          fills.set(value, at: position)
        default: numbers.append(nil)
        }
      }
      let layout = RowLayout(revision.fields, at: numbers, declared, revision: UInt16(first + number))
      return Revision(
        layout: .passRetained(layout), fills: fills,
        filled: sources.indices.filter { !fills.storage[$0].isNull })
    }
    revisions = .allocate(capacity: made.count)
    _ = revisions.initialize(from: made)
  }

  deinit {
    for revision in revisions { revision.layout.release() }
    revisions.deinitialize()
    revisions.deallocate()
  }

  /// Decodes all fields of a row, or some; returns false if the row has no earlier revision.
  func fill(
    _ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: UnsafeBufferPointer<Int>?
  ) throws -> Bool {
    guard row.count >= PackedRow.headerLength else { return false }
    let head = UInt32(littleEndian: row.loadUnaligned(as: UInt32.self))
    let number = Int(head >> 16) - first
    guard revisions.indices.contains(number), let revision = revisions.baseAddress.map({ $0 + number }) else {
      return false
    }
    return try revision.pointee.layout._withUnsafeGuaranteedRef { layout in
      guard layout.head == head else { return false }
      let (cells, fills) = (buffer.storage, revision.pointee.fills.storage)
      if let positions {
        var check = RowCheck.nothing
        try layout.fill(buffer, from: row, only: positions, &check)
        for position in positions where position < buffer.count && cells[position].isNull {
          cells[position] = fills[position]
        }
      } else {
        try layout.fill(buffer, from: row)
        for position in revision.pointee.filled where position < buffer.count && cells[position].isNull {
          cells[position] = fills[position]
        }
      }
      return true
    }
  }
}

extension RowLayout {
  /// Computes the layout of a model's rows for a compatible declared schema.
  convenience init(of model: StoredModel, declared: ModelSchema) {
    let stored = model.schema
    let isDeclared = stored.identity == declared.identity
    let numbers: [Int?] =
      isDeclared
      ? declared.fields.indices.map { $0 } : declared.fields.map { stored.position(of: $0.name) }
    self.init(
      stored.fields.map(RowRevision.Field.init), at: numbers, declared,
      revision: model.evolution?.revision ?? 1,
      earlier: model.evolution.map { EarlierRows($0, stored: stored, declared: declared) })
  }
}
