import PersistenceDriver

/// The fields that the stored keys of a path hold, so that they can be read without the records.
///
/// A key that was cut does not hold them; whoever reads asks ``KeyForm/isCut(_:)`` first.
struct EntryFields: Sendable {
  /// How many bytes come before the first component.
  private let start: Int
  /// The declared positions of the components, in order.
  let positions: [Int]

  init(of path: AccessPath, _ binding: ModelBinding) {
    start = (path.index?.prefix ?? binding.prefix).count
    positions = (path.index?.positions ?? []) + binding.keyPositions
  }

  /// Whether the keys hold all of these fields.
  func hold(_ wanted: [Int]) -> Bool { wanted.allSatisfy(positions.contains) }

  /// What to read of each component so that these fields are filled; nil where a component is passed over.
  ///
  /// It ends with the last component that is needed.
  func reading(_ wanted: [Int]) -> [Int?] {
    var missing = Set(wanted)
    var steps: [Int?] = []
    for position in positions {
      guard !missing.isEmpty else { break }
      steps.append(missing.remove(position))
    }
    return steps
  }

  /// Fills fields of a row from a key that is not cut.
  ///
  /// - Returns: Whether bytes were copied into the row's own memory, which is to be reset before the next row.
  func fill(_ row: RowBuffer, from key: UnsafeRawBufferPointer, _ steps: [Int?]) throws -> Bool {
    var index = start
    var hasCopied = false
    for position in steps {
      if try KeyCodec.fill(position, of: row, from: key, at: &index) { hasCopied = true }
    }
    return hasCopied
  }
}
