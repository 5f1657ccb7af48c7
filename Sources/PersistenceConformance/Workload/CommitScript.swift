import PersistenceCore

/// A history of numbered transactions, with the expected content of the store after each.
struct CommitScript: Sendable {
  struct State: Sendable, Equatable {
    var accounts: [Int: Account] = [:]
    var people: [String: Person] = [:]

    init() {}

    /// The number of transactions so far.
    var number: Int { accounts[0]?.transfers ?? 0 }
  }

  private let seed: UInt64

  init(seed: UInt64) { self.seed = seed }

  func state(after number: Int) throws -> State {
    var state = State()
    for step in 0..<number { try apply(step + 1, to: &state) }
    return state
  }

  private struct Step {
    var kind: Int
    var accounts: [Account]
    var person: Person
    var leaving: String
  }

  /// Every transaction stores its number in account 0.
  private func step(_ number: Int) -> Step {
    var random = SeededGenerator(seed: seed &+ UInt64(number) &* 7919)
    let counter = Account(0, balance: random.int(0...9), transfers: number)
    let others = (0..<random.int(1...5)).map { _ in
      Account(
        random.int(1...40), balance: random.int(0...9),
        note: String(repeating: "é\(number) ", count: random.int(0...60)))
    }
    var person = Person("p\(random.int(0...30))")
    person.name = "step \(number)"
    person.email = "\(person.id)@example.org"
    person.age = random.int(0...5)
    return Step(
      kind: random.int(0...9), accounts: [counter] + others, person: person, leaving: "p\(random.int(0...30))"
    )
  }

  func apply(_ number: Int, to state: inout State) throws {
    let step = step(number)
    switch step.kind {
    case 0...2: state.accounts[0] = step.accounts[0]
    case 3...5: for account in step.accounts { state.accounts[account.id] = account }
    default:
      for account in step.accounts { state.accounts[account.id] = account }
      if step.kind == 9 {
        state.people = [:]
        state.accounts = state.accounts.filter { $0.value.balance != 3 || $0.key == 0 }
      }
      state.people[step.person.id] = step.person
      if step.leaving != step.person.id { state.people[step.leaving] = nil }
    }
  }

  func apply(_ number: Int, to repository: any PersistentRepository) throws {
    let step = step(number)
    switch step.kind {
    case 0...2: try repository.save(step.accounts[0])
    case 3...5: try repository.save(contentsOf: step.accounts)
    default:
      try repository.transaction { store in
        try store.save(contentsOf: step.accounts)
        do {
          try store.transaction { inner in
            try inner.save(contentsOf: (0..<5).map { Account($0, balance: -1) })
            try inner.deleteAll(Person.self)
            throw SuiteError()
          }
        } catch is SuiteError {}
        if step.kind == 9 {
          try store.deleteAll(Person.self)
          try store.filter(Account.self, where: \.balance == 3 && \.id != 0).delete()
        }
        try store.save(step.person)
        if step.leaving != step.person.id { try store.delete(Person.self, id: step.leaving) }
      }
    }
  }

  /// Reads the content of a store by key and again by its indexes, which must agree.
  static func read(_ repository: any PersistentRepository) throws -> State {
    var state = State()
    for account in try repository.fetch(Account.self) { state.accounts[account.id] = account }
    for person in try repository.fetch(Person.self) { state.people[person.id] = person }
    let byBalance = try repository.filter(Account.self).sorted(by: \.balance).ids()
    let expected = state.accounts.values.sorted { ($0.balance, $0.id) < ($1.balance, $1.id) }.map(\.id)
    guard byBalance == expected else {
      throw Inconsistent(description: "the index of balance has \(byBalance), not \(expected)")
    }
    for person in state.people.values {
      let found = try repository.filter(Person.self, where: \.email == person.email).ids()
      guard found == [person.id] else {
        throw Inconsistent(description: "the index of email has \(found) for \(person.id)")
      }
      let ages = try repository.filter(Person.self, where: \.age == person.age).count()
      guard ages == state.people.values.filter({ $0.age == person.age }).count else {
        throw Inconsistent(description: "the index of age has \(ages)")
      }
    }
    return state
  }

  struct Inconsistent: Error, CustomStringConvertible { var description: String }
}
