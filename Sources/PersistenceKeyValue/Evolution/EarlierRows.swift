import PersistenceDriver

/// Decodes rows of earlier revisions into the current fields.
final class EarlierRows: @unchecked Sendable {  // immutable after init
  private struct Revision {
    /// The layout, in which a field that the rows lack is nil.
    let layout: RowLayout
    /// The values of fields that the layout decodes as nil; it owns their bytes.
    let fills: RowBuffer
  }

  /// The number of the oldest revision.
  private let first: Int
  private let revisions: [Revision]

  /// Computes the layouts of a model's earlier revisions for a declared schema.
  init(_ evolution: ModelEvolution, stored: ModelSchema, declared: ModelSchema) {
    first = Int(evolution.revision) - evolution.earlier.count
    let positions = declared.fields.map { stored.position(of: $0.name) }
    revisions = evolution.earlier.enumerated().map { [first] number, revision in
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
      return Revision(
        layout: RowLayout(revision.fields, at: numbers, declared, revision: UInt16(first + number)),
        fills: fills)
    }
  }

  /// Decodes all fields of a row, or some; returns false if the row has no earlier revision.
  func fill(
    _ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: UnsafeBufferPointer<Int>?
  ) throws -> Bool {
    guard row.count >= PackedRow.headerLength else { return false }
    let head = UInt32(littleEndian: row.loadUnaligned(as: UInt32.self))
    let number = Int(head >> 16) - first
    guard revisions.indices.contains(number), revisions[number].layout.head == head else { return false }
    let (layout, fills) = (revisions[number].layout, revisions[number].fills.storage)
    let cells = buffer.storage
    if let positions {
      var check = RowCheck.nothing
      try layout.fill(buffer, from: row, only: positions, &check)
      for position in positions where position < buffer.count && cells[position].isNull {
        cells[position] = fills[position]
      }
    } else {
      try layout.fill(buffer, from: row)
      for position in 0..<min(layout.count, buffer.count) where cells[position].isNull {
        cells[position] = fills[position]
      }
    }
    return true
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
