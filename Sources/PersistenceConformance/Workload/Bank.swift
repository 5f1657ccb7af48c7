import PersistenceCore

/// Transfers between accounts that start with 100 each; the total reveals lost updates and inconsistent
/// reads.
enum Bank {
  struct Torn: Error, CustomStringConvertible { var description: String }

  static func transfer(
    in repository: any PersistentRepository, accounts: Int, replayable: Bool = false,
    using random: inout SeededGenerator
  ) throws {
    let from = random.int(1...accounts)
    let to = from % accounts + 1
    let sum = random.int(1...50)
    try repository.transaction(replayable: replayable) { store in
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

  /// Reads all accounts from one result, by key and by an index, and throws if the total is wrong.
  static func audit(_ repository: any PersistentRepository, accounts: Int) throws {
    let byKey = try repository.filter(Account.self).result()
    try check(byKey, accounts)
    let byBalance = try repository.filter(Account.self).sorted(by: \.balance, inOrder: .descending).result()
    try check(byBalance, accounts)
    // The second read must agree with the first, whatever was written between.
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
      throw Torn(description: "\(count) accounts, the last \(last), total \(sum), not \(accounts * 100)")
    }
  }
}
