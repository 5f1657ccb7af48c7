package import PersistenceDriver

/// The commits that a check has found.
package struct NewCommits: Sendable {
  /// The numbers of the transactions, in any order.
  package var numbers: [UInt64]
  /// Whether these are all; if not, any record may have changed.
  package var isWhole: Bool

  /// Whether nobody has committed.
  package var isEmpty: Bool { isWhole && numbers.isEmpty }

  package init(numbers: [UInt64], isWhole: Bool) { (self.numbers, self.isWhole) = (numbers, isWhole) }
}

/// A transaction that runs beside others, and which of them it has seen.
package struct NumberedTransaction: Sendable {
  package let number: UInt64
  /// The least number that was in use when the transaction began, and the first that was not given yet.
  private let (least, next): (UInt64, UInt64)
  /// The numbers between them of transactions that had not ended.
  private let open: Set<UInt64>

  /// Makes a transaction from its number and its moment, as in `735:740:735,738`; nil if either is malformed.
  package init?(_ number: String?, moment: String?) {
    let parts = (moment ?? "").split(separator: ":", omittingEmptySubsequences: false)
    guard let number = number.flatMap({ UInt64($0) }), parts.count == 3, let least = UInt64(parts[0]),
      let next = UInt64(parts[1])
    else { return nil }
    (self.number, self.least, self.next) = (number, least, next)
    open = Set(parts[2].split(separator: ",").compactMap { UInt64($0) })
  }

  /// Whether another transaction had ended when this one began.
  package func sees(_ other: UInt64) -> Bool { other < least || (other < next && !open.contains(other)) }
}

/// The detection of commits in a store whose transactions commit at the same time, by the numbers of the transactions.
///
/// It finds the commits of this process too. ``CommitObservers`` knows those that it registered.
package protocol NumberedCommits: OutsideCommits {
  /// The commits since the last call; none in the first call, and the first after ``OutsideCommits/reset()``.
  func newCommits() throws -> NewCommits

  /// The commits since the last call that a snapshot sees, so that it is the state after exactly these.
  ///
  /// Nil if it cannot compare the snapshot with the last call.
  func newCommits(seenBy snapshot: any StorageSnapshot) throws -> NewCommits?
}

extension NumberedCommits {
  /// Whether any process has committed since the last call.
  package func check() throws -> Bool {
    try !newCommits().isEmpty
  }
}
