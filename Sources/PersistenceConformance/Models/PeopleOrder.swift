import PersistenceCore

/// An order of people, as a query's order and as a closure.
struct PeopleOrder {
  var criteria: [SortCriterion<Person>]
  private var comparisons: [@Sendable (Person, Person) -> Int]

  init() {
    criteria = []
    comparisons = []
  }

  func then<Value: OracleValue>(
    _ property: SendableKeyPath<Person, Value>, _ direction: SortDirection = .ascending
  ) -> PeopleOrder {
    // A repeated field decides nothing, not even the direction of ties.
    let criterion = SortCriterion(property, order: direction)
    guard !criteria.contains(where: { $0.fieldOrder.field == criterion.fieldOrder.field }) else {
      return self
    }
    var order = self
    order.criteria.append(criterion)
    let sign = direction == .ascending ? 1 : -1
    order.comparisons.append { sign * Value.oracle($0[keyPath: property], $1[keyPath: property]) }
    return order
  }

  /// Returns whether one person sorts before another; the key breaks ties, in the last direction (O2).
  func precedes(_ left: Person, _ right: Person) -> Bool {
    for comparison in comparisons {
      let order = comparison(left, right)
      if order != 0 { return order < 0 }
    }
    let order = String.oracle(left.id, right.id)
    let isDescending = criteria.last?.fieldOrder.isDescending ?? false
    return isDescending ? order > 0 : order < 0
  }

  /// Orders of zero to three criteria.
  static func random(using random: inout SeededGenerator) -> PeopleOrder {
    var order = PeopleOrder()
    for _ in 0..<random.int(0...3) {
      let direction = random.pick([SortDirection.ascending, .descending])
      switch random.int(0...7) {
      case 0: order = order.then(\.age, direction)
      case 1: order = order.then(\.score, direction)
      case 2: order = order.then(\.height, direction)
      case 3: order = order.then(\.team, direction)
      case 4: order = order.then(\.name, direction)
      case 5: order = order.then(\.joined, direction)
      case 6: order = order.then(\.email, direction)
      default: order = order.then(\.id, direction)
      }
    }
    return order
  }

  /// Orders with ties and nils, in both directions, with and without a matching index.
  static var all: [PeopleOrder] {
    let none = PeopleOrder()
    return [
      none, none.then(\.age), none.then(\.age, .descending), none.then(\.team).then(\.score),
      none.then(\.team, .descending).then(\.score, .descending), none.then(\.team).then(\.score, .descending),
      none.then(\.team, .descending).then(\.score), none.then(\.name).then(\.height, .descending),
      none.then(\.joined, .descending).then(\.age).then(\.name), none.then(\.email),
      none.then(\.email, .descending), none.then(\.id, .descending), none.then(\.id).then(\.age),
      none.then(\.age).then(\.id, .descending), none.then(\.team).then(\.seat, .descending),
    ]
  }
}

extension Query<Person> {
  func sorted(by order: PeopleOrder) -> Query { order.criteria.reduce(self) { $0.sorted(by: $1) } }
}
