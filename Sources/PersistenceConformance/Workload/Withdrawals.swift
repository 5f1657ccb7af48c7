import PersistenceCore

/// Transactions that depend on their reads, so that a write in between would break them.
enum Withdrawals {
  /// Takes 60 from one of two accounts if the two together have as much.
  ///
  /// Two at once, each from its own account, would leave a negative total (write skew).
  ///
  /// - Returns: Whether the money was taken.
  static func withdraw(
    from id: Int, in repository: any PersistentRepository, replayable: Bool
  ) throws -> Bool {
    try repository.transaction(replayable: replayable) { store in
      let sum = try store.fetch(Account.self).reduce(0) { $0 + $1.balance }
      guard sum >= 60 else { return false }
      var account = try store.find(Account.self, id: id) ?? Account(id, balance: 0)
      account.balance -= 60
      account.transfers += 1
      try store.save(account)
      return true
    }
  }

  /// Takes the next free seat: the number of people with a seat, counted by an index in the same transaction.
  ///
  /// Two at once would take the same seat.
  static func takeSeat(_ name: String, in repository: any PersistentRepository, replayable: Bool)
    throws
  {
    try repository.transaction(replayable: replayable) { store in
      let taken = try store.filter(Person.self, where: \.team == "seated").count()
      try store.insert(Person(name, age: taken, team: "seated"))
    }
  }

  /// Appends to a list, which it reads and saves in one transaction.
  ///
  /// - Returns: The list before.
  static func append(
    _ word: String, in repository: any PersistentRepository, replayable: Bool = false
  ) throws -> [String] {
    try repository.transaction(replayable: replayable) { store in
      var list = try store.find(Person.self, id: "list") ?? Person("list")
      let before = list.tags
      list.tags.append(word)
      try store.save(list)
      return before
    }
  }
}
