package import PersistenceCore

/// Money moved between accounts, each of which begins with 100: what is lost or torn shows in the sum.
package enum Bank {
  /// A sum that is not what it must be.
  package struct Torn: Error, CustomStringConvertible {
    /// What was found.
    package var description: String
  }

  /// Moves a random sum between two random accounts, in one transaction.
  package static func transfer(
    in repository: any PersistentRepository, accounts: Int, using random: inout SeededGenerator
  ) throws {
    let from = random.int(1...accounts)
    let to = from % accounts + 1
    let sum = random.int(1...50)
    try repository.transaction { store in
      try store.write(Account.self, id: from) { account in
        account.balance -= sum
        account.transfers += 1
      }
      try store.write(Account.self, id: to) { account in
        account.balance += sum
        account.transfers += 1
      }
    }
  }

  /// Reads all accounts from one result, by the key and by an index, and throws where the sum is wrong.
  package static func audit(_ repository: any PersistentRepository, accounts: Int) throws {
    let byKey = try repository.filter(Account.self).result()
    try check(byKey, accounts)
    let byBalance = try repository.filter(Account.self).sorted(by: \.balance, inOrder: .descending).result()
    try check(byBalance, accounts)
    // The same twice, however much was written between.
    try check(byKey, accounts)
  }

  private static func check(_ result: PersistentResults<Account>, _ accounts: Int) throws {
    var (sum, count, last) = (0, 0, Int.min)
    try result.forEach { account in
      sum += account.balance
      count += 1
      last = max(last, account.id)
    }
    guard sum == accounts * 100, count == accounts, last == accounts else {
      throw Torn(description: "\(count) accounts, the last \(last), hold \(sum), not \(accounts * 100)")
    }
  }
}
