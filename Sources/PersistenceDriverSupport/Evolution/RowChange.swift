package import PersistenceDriver

/// Makes the rows of a changed schema from stored rows, one at a time.
///
/// A value that does not change is borrowed from the stored row, so a made row is valid only as long as that one.
@usableFromInline
package struct RowChange {
  private enum Origin {
    /// The value of a stored field, by its position.
    case stored(Int)
    case constant
    case computed
  }

  /// The origins of the fields.
  private let origins: [Origin]
  /// Whether all fields are computed.
  private let isComputed: Bool
  private let computed: ComputedFields
  /// The fills, and the values that replace nil.
  private let constants: RowBuffer
  private let made: RowBuffer

  /// Creates the rows of a change, with all fields of the target or only those from some position on, before which none
  /// is computed.
  package init(_ change: SchemaChange, from first: Int = 0) {
    computed = ComputedFields(change)
    let sources = change.sources.dropFirst(first)
    constants = RowBuffer(count: sources.count)
    made = RowBuffer(count: sources.count)
    var origins: [Origin] = []
    for (number, source) in sources.enumerated() {
      switch source {
      case .field(let origin, let replacement):
        origins.append(.stored(origin))
        constants.set(replacement?.normalized ?? .null, at: number)
      case .fill(let value):
        origins.append(.constant)
        constants.set(value.normalized, at: number)
      case .computed: origins.append(.computed)
      }
    }
    self.origins = origins
    isComputed = sources.allSatisfy { $0 == .computed } && computed.positions.count == sources.count
  }

  /// Calls a closure with the changed row of a stored one.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if a computed value does not have
  ///   its field's kind, the error of the computation, and that of the closure.
  @inlinable
  package func withRow<Result>(
    from stored: borrowing Row, _ body: (borrowing Row) throws -> Result
  ) throws -> Result {
    // The memory of the row is this value's.
    defer { withExtendedLifetime(self) {} }
    return try body(Row(cells: try cells(from: stored)))
  }

  /// The cells of the changed row, until the next call.
  @usableFromInline
  func cells(from stored: borrowing Row) throws -> UnsafeBufferPointer<RowCell> {
    let (values, cells) = (try computed.compute(from: stored), made.storage)
    if isComputed { return UnsafeBufferPointer(start: values, count: made.count) }
    var (number, next) = (0, 0)
    while number < origins.count {
      switch origins[number] {
      case .stored(let origin):
        let cell = try stored.field(at: origin)
        cells[number] = cell.isNull ? constants.storage[number] : cell
      case .constant: cells[number] = constants.storage[number]
      case .computed:
        cells[number] = values[next]
        next &+= 1
      }
      number &+= 1
    }
    return UnsafeBufferPointer(start: cells, count: made.count)
  }
}
