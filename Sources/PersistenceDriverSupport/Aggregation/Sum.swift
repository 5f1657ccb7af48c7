import Foundation
import PersistenceDriver

/// The sum of numbers of one kind, exact until it is asked for.
struct Sum {
  private var count: Int64 = 0
  private var exact: Exact

  private enum Exact {
    case integer(Int128)
    case double(ExactSum)
    case decimal(ExactDecimalSum)
  }

  init(_ kind: FieldKind) {
    switch kind {
    case .float, .double: exact = .double(ExactSum())
    case .decimal: exact = .decimal(ExactDecimalSum())
    default: exact = .integer(0)
    }
  }

  mutating func add(_ cell: RowCell) throws {
    count += 1
    switch exact {
    case .integer(let sum): exact = .integer(sum + Int128(cell.integerValue))
    case .double(var sum):
      exact = .integer(0)  // Lets go of the limbs, so that they are changed in place.
      sum.add(cell.doubleValue)
      exact = .double(sum)
    case .decimal(var sum):
      exact = .integer(0)
      try sum.add(cell.decimalValue().canonicalText)
      exact = .decimal(sum)
    }
  }

  /// The sum; nil where its kind cannot hold it.
  var total: PersistentValue? {
    switch exact {
    case .integer(let sum): Int64(exactly: sum).map(PersistentValue.integer)
    case .double(let sum): .double(sum.value)
    case .decimal(let sum): sum.value(dividedBy: 1).map(PersistentValue.decimal)
    }
  }

  /// The sum divided by the number of values; null where there are none, nil where it cannot be held.
  var average: PersistentValue? {
    guard count > 0 else { return .null }
    switch exact {
    case .integer(let sum): return .double(Double(sum) / Double(count))
    case .double(let sum): return .double(sum.value / Double(count))
    case .decimal(let sum): return sum.value(dividedBy: count).map(PersistentValue.decimal)
    }
  }
}
