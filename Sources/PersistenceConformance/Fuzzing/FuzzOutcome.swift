import PersistenceCore

/// One result of a step, compared between the reference model and a context.
struct FuzzOutcome: Sendable {
  enum Value: Sendable {
    case done
    case code(String)
    case number(Int)
    case truth(Bool)
    case rows([[PersistentValue]])
    case names([String])
  }

  /// The step: positions of steps, outermost first.
  let path: [Int]
  let label: String
  let value: Value

  init(_ path: [Int], _ label: String, _ value: Value) {
    self.path = path
    self.label = label
    self.value = value
  }

  /// Whether two outcomes are equal, with rows compared to the bit.
  func agrees(with other: FuzzOutcome) -> Bool {
    guard label == other.label else { return false }
    switch (value, other.value) {
    case (.done, .done): return true
    case (.code(let left), .code(let right)): return left == right
    case (.number(let left), .number(let right)): return left == right
    case (.truth(let left), .truth(let right)): return left == right
    case (.rows(let left), .rows(let right)):
      return FuzzValue.isSame(left, right)
    case (.names(let left), .names(let right)):
      return left.elementsEqual(right, by: FuzzValue.isSameName)
    default: return false
    }
  }

  /// The outcome as text; of many rows, those around the first difference from another outcome.
  func text(besides other: FuzzOutcome?) -> String {
    switch value {
    case .done: return "\(label): done"
    case .code(let code): return "\(label): the error \(code)"
    case .number(let number): return "\(label): \(number)"
    case .truth(let truth): return "\(label): \(truth)"
    case .names(let names): return "\(label): " + names.joined(separator: "; ")
    case .rows(let rows):
      var start = 0
      if case .rows(let others)? = other?.value {
        start = zip(rows, others).prefix { FuzzValue.isSame($0, $1) }.map { _ in 1 }.count
      }
      let first = max(0, start - 2)
      var lines = ["\(label): \(rows.count) rows"]
      for (number, row) in rows.enumerated().dropFirst(first).prefix(6) {
        lines.append("  \(number): (" + row.map(FuzzSource.value).joined(separator: ", ") + ")")
      }
      if first > 0 { lines.insert("  … \(first) alike", at: 1) }
      if rows.count > first + 6 { lines.append("  …") }
      return lines.joined(separator: "\n")
    }
  }
}
