#if Postgres
  import Foundation
  import PersistenceConformance
  import PersistenceCore
  import PersistenceDriverSupport
  import Synchronization

  /// Clients that write few records at the same time while connections fail, and what they have learned.
  ///
  /// Ten lists get words, ten accounts transfer money, and five pairs of accounts are withdrawn from as long as both
  /// together hold enough. Some transactions are batches with an id, which a client repeats until it knows their outcome.
  final class HotRows: Sendable {
    private static let (lists, accounts, pairs) = (10, 10, 5)

    private let repositories: [Repository]
    private let time: Duration

    /// What the clients have learned.
    private struct Notes {
      var transactions: [ListTransaction] = []
      var transfers = (applied: 0, unknown: 0)
      var withdrawals = (applied: 0, unknown: 0)
      var deposits = (applied: 0, unknown: 0)
      var faults: [String] = []
    }

    private let notes = Mutex(Notes())

    /// Makes the records, through the first repository, for clients that run for some time.
    init(_ repositories: [Repository], for time: Duration) throws {
      (self.repositories, self.time) = (repositories, time)
      guard let repository = repositories.first else { return }
      try repository.save(contentsOf: (0..<Self.lists).map { Person("list \($0)") })
      try repository.save(contentsOf: (0..<Self.accounts).map { Account($0, balance: 100) })
      try repository.save(
        contentsOf: (0..<Self.pairs * 2).map { Account(Self.accounts + $0, balance: 50) })
      // The first batch defines the table of batches.
      try repository.applyOnce(UUID()) { _ in }
    }

    /// Runs clients, each on a thread, beside a closure that disturbs them.
    ///
    /// They go on after their time until enough has happened, but for no more than half a minute.
    func run(
      clients: Int, until isEnough: @escaping @Sendable () -> Bool = { true },
      disturbing disturb: @escaping @Sendable () throws -> Void
    ) throws {
      let end = ContinuousClock.now + time
      let isRunning = { @Sendable in .now < end || (!isEnough() && .now < end + .seconds(30)) }
      _ = try together(clients + 1) { [self] number in
        guard number < clients else {
          while isRunning() { try disturb() }
          return
        }
        let client = Client(number, repositories[number % repositories.count], self)
        while isRunning() { try client.step() }
      }
    }

    private func note(_ change: (inout Notes) -> Void) { notes.withLock { change(&$0) } }

    /// Everything that contradicts the contract, as text; empty if nothing does.
    ///
    /// - Parameter repository: Reads the store, after the disturbances have ended.
    /// - Returns: The contradictions.
    /// - Throws: Errors of reading.
    func anomalies(in repository: Repository) throws -> [String] {
      let notes = notes.withLock(\.self)
      var anomalies = notes.faults
      let lists = try (0..<Self.lists).map { list in
        try repository.find(Person.self, id: "list \(list)")?.tags ?? []
      }
      anomalies += ListHistory(transactions: notes.transactions).anomalies(endingWith: lists)
      let accounts = Array(try repository.filter(Account.self).result())
      anomalies += Self.faults(of: accounts)
      let transfers = accounts.prefix(Self.accounts).reduce(0) { $0 + $1.transfers }
      // Deposits and withdrawals of 60.
      let pairs = (accounts.dropFirst(Self.accounts).reduce(0) { $0 + $1.balance } - Self.pairs * 100) / 60
      func check(_ found: Int, _ least: Int, _ most: Int, _ what: String) {
        guard !(least...most).contains(found) else { return }
        anomalies.append("\(found) \(what), which are not between \(least) and \(most)")
      }
      let (deposits, withdrawals) = (notes.deposits, notes.withdrawals)
      check(
        transfers, notes.transfers.applied, notes.transfers.applied + notes.transfers.unknown, "transfers")
      check(
        pairs, deposits.applied - withdrawals.applied - withdrawals.unknown,
        deposits.applied + deposits.unknown - withdrawals.applied, "deposits less withdrawals")
      return anomalies
    }

    /// How many transactions on lists were applied, as the clients know, and of how many they do not know it.
    var counts: (applied: Int, unknown: Int) {
      notes.withLock { notes in
        (
          notes.transactions.count { $0.outcome == .applied },
          notes.transactions.count { $0.outcome == .unknown }
        )
      }
    }

    /// What is wrong with all accounts of one moment.
    private static func faults(of accounts: [Account]) -> [String] {
      guard accounts.count == Self.accounts + pairs * 2 else {
        return ["\(accounts.count) accounts were read"]
      }
      let sum = accounts.prefix(Self.accounts).reduce(0) { $0 + $1.balance }
      var faults = sum == Self.accounts * 100 ? [] : ["accounts with \(sum) were read"]
      for pair in 0..<pairs {
        let first = Self.accounts + pair * 2
        let both = accounts[first].balance + accounts[first + 1].balance
        if both < 0 { faults.append("a pair with \(both) was read") }
      }
      return faults
    }

    /// One client.
    private final class Client {
      private let number: Int
      private let repository: Repository
      private let rows: HotRows
      private var steps = 0

      init(_ number: Int, _ repository: Repository, _ rows: HotRows) {
        (self.number, self.repository, self.rows) = (number, repository, rows)
      }

      func step() throws {
        steps += 1
        switch Int.random(in: 0..<6) {
        case 0, 1: try append()
        case 2: try appendOnce()
        case 3: try transfer()
        case 4: try takeOrGive()
        default: try audit()
        }
      }

      /// Runs a transaction, and returns what its error tells; nil if it was applied.
      private func outcome(_ body: () throws -> Void) -> ListTransaction.Outcome {
        do {
          try body()
          return .applied
        } catch let error as PersistenceError where error.code == .outcomeUnknown {
          return .unknown
        } catch let error as PersistenceError where [.unreachable, .busy].contains(error.code) {
          // Nothing was committed (W5).
          return .refused
        } catch {
          rows.note { $0.faults.append("client \(number): \(error)") }
          return .unknown
        }
      }

      /// A transaction that reads two lists and appends to one or both.
      private func newTransaction() -> ListTransaction {
        var transaction = ListTransaction(word: "\(number)-\(steps)")
        let first = Int.random(in: 0..<HotRows.lists)
        let second = (first + Int.random(in: 1..<HotRows.lists)) % HotRows.lists
        transaction.reads = [first: [], second: []]
        transaction.appends = Bool.random() ? [first] : [first, second]
        transaction.begin = .now
        return transaction
      }

      private func apply(_ transaction: inout ListTransaction, in store: any PersistentRepository) throws {
        for list in transaction.reads.keys.sorted() {
          guard var person = try store.find(Person.self, id: "list \(list)") else { continue }
          transaction.reads[list] = person.tags
          guard transaction.appends.contains(list) else { continue }
          person.tags.append(transaction.word)
          try store.save(person)
        }
      }

      private func append() throws {
        var transaction = newTransaction()
        transaction.outcome = outcome {
          try repository.transaction(replayable: true) { try apply(&transaction, in: $0) }
        }
        finish(transaction)
      }

      /// Repeats a batch until its outcome is known.
      private func appendOnce() throws {
        var transaction = newTransaction()
        let (batch, deadline) = (UUID(), ContinuousClock.now + .seconds(120))
        /// What the runs read of which the outcome is unknown; at most one of them was applied.
        var candidates: [[Int: [String]]] = []
        var ran = false
        repeat {
          ran = false
          transaction.outcome = outcome {
            ran = try repository.applyOnce(batch, replayable: true) { try apply(&transaction, in: $0) }
          }
          if transaction.outcome == .unknown { candidates.append(transaction.reads) }
          if transaction.outcome != .applied { usleep(20_000) }
        } while transaction.outcome != .applied && .now < deadline
        if transaction.outcome == .applied, !ran, candidates.isEmpty {
          return rows.note { $0.faults.append("\(transaction.word) was refused, and is applied") }
        }
        if transaction.outcome != .applied { transaction.outcome = candidates.isEmpty ? .refused : .unknown }
        if !ran { transaction.reads = candidates.count == 1 ? candidates[0] : [:] }
        finish(transaction)
      }

      private func finish(_ transaction: ListTransaction) {
        var transaction = transaction
        if transaction.outcome == .applied { transaction.end = .now }
        rows.note { [transaction] in $0.transactions.append(transaction) }
      }

      private func transfer() throws {
        let from = Int.random(in: 0..<HotRows.accounts)
        let to = (from + Int.random(in: 1..<HotRows.accounts)) % HotRows.accounts
        let outcome = outcome {
          try repository.transaction(replayable: true) { store in
            try store.write(Account.self, id: from) { account in
              account.balance -= 1
              account.transfers += 1
            }
            try store.write(Account.self, id: to) { $0.balance += 1 }
          }
        }
        rows.note { notes in
          if outcome == .applied { notes.transfers.applied += 1 }
          if outcome == .unknown { notes.transfers.unknown += 1 }
        }
      }

      /// Takes 60 from one account of a pair if both together have as much, and gives 60 otherwise.
      private func takeOrGive() throws {
        let first = HotRows.accounts + Int.random(in: 0..<HotRows.pairs) * 2
        let own = first + Int.random(in: 0...1)
        var takes = false
        let outcome = outcome {
          try repository.transaction(replayable: true) { store in
            let sum = try [first, first + 1].reduce(0) {
              try $0 + (store.find(Account.self, id: $1)?.balance ?? 0)
            }
            takes = sum >= 60
            try store.write(Account.self, id: own) { $0.balance += takes ? -60 : 60 }
          }
        }
        rows.note { notes in
          let path = takes ? \Notes.withdrawals : \Notes.deposits
          if outcome == .applied { notes[keyPath: path].applied += 1 }
          if outcome == .unknown { notes[keyPath: path].unknown += 1 }
        }
      }

      /// Reads all accounts at one moment.
      private func audit() throws {
        var accounts: [Account] = []
        guard
          outcome({ try repository.filter(Account.self).result().forEach { accounts.append($0) } })
            == .applied
        else { return }
        rows.note { $0.faults += HotRows.faults(of: accounts) }
      }
    }
  }
#endif
