package import PersistenceDriver

/// Computes the values of a change's computed fields, one record at a time.
package struct ComputedFields {
  private struct Field {
    let tag: RowCell.Tag
    let isOptional: Bool
    let range: ClosedRange<Int64>?

    func accepts(_ cell: RowCell) -> Bool {
      if cell.isNull { return isOptional }
      guard cell.tag == tag else { return false }
      return range.map { $0.contains(cell.integerValue) } ?? true
    }
  }

  private let change: SchemaChange
  private let compute: SchemaChange.Compute
  private let fields: [Field]
  private let row: RowBuffer

  /// The positions of the fields in the changed schema.
  package let positions: [Int]

  package init(_ change: SchemaChange) {
    self.change = change
    // The operator ?? would wrap the closure in two others.
    if let compute = change.compute { self.compute = compute } else { compute = { _, _ in } }
    positions = change.computedPositions
    fields = positions.map { position in
      let field = change.target.fields[position]
      return Field(tag: field.kind.tag, isOptional: field.isOptional, range: field.kind.integerRange)
    }
    row = RowBuffer(count: fields.count)
  }

  /// The cells of the computed fields, in order, until the next call.
  ///
  /// - Parameter stored: A row of the stored schema, with at least ``SchemaChange/computeSources``.
  /// - Returns: The cells.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if a value does not have its
  ///   field's kind, and the error of the computation.
  package func compute(from stored: borrowing Row) throws -> UnsafeMutablePointer<RowCell> {
    let cells = row.storage
    row.reset()
    do { try compute(stored, row) } catch let error as PersistenceError {
      throw error.at(model: change.target.name)
    }
    var number = 0
    while number < fields.count {
      guard fields[number].accepts(cells[number]) else { throw refusal(number) }
      number &+= 1
    }
    return cells
  }

  private func refusal(_ number: Int) -> PersistenceError {
    let field = change.target.fields[positions[number]]
    return PersistenceError(
      .invalidRequest, "the computed value of “\(field.name)” does not have the kind \(field.kind.rawValue)",
      model: change.target.name, field: field.name)
  }
}

extension SchemaChange {
  /// The positions of the computed fields of ``target``.
  package var computedPositions: [Int] {
    sources.indices.filter { position in
      if case .computed = sources[position] { true } else { false }
    }
  }
}
