package import PersistenceDriver

/// The commits that a check has found.
package struct NewCommits: Sendable {
  /// The numbers of the transactions, in any order.
  package var numbers: [UInt64]
  /// Whether these are all; if not, any record may have changed.
  package var isWhole: Bool

  package init(numbers: [UInt64], isWhole: Bool) { (self.numbers, self.isWhole) = (numbers, isWhole) }
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
    let news = try newCommits()
    return !news.isWhole || !news.numbers.isEmpty
  }
}
