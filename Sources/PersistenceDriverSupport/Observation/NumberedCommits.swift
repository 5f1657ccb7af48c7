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
  /// The numbers between them of transactions that had not ended, in ascending order.
  private let open: [UInt64]

  /// Makes a transaction from its number and its moment in the binary format of PostgreSQL's `pg_snapshot`.
  ///
  /// The format has big-endian integers: the count of the open numbers in 32 bits, then the least, the next and the open
  /// numbers in 64 bits each.
  ///
  /// - Throws: ``PersistenceError`` `damaged` if the moment is malformed.
  package init(_ number: UInt64, moment: UnsafeRawBufferPointer) throws(PersistenceError) {
    // Compared as divisions, a wrong count cannot overflow.
    guard moment.count >= 20, (moment.count - 20) % 8 == 0,
      Int(UInt32(bigEndian: moment.loadUnaligned(as: UInt32.self))) == (moment.count - 20) / 8
    else { throw Self.malformed(moment) }
    func integer(at offset: Int) -> UInt64 {
      UInt64(bigEndian: moment.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    let (least, next) = (integer(at: 4), integer(at: 12))
    var (open, last): ([UInt64], UInt64) = ([], least)
    open.reserveCapacity((moment.count - 20) / 8)
    for offset in stride(from: 20, to: moment.count, by: 8) {
      let one = integer(at: offset)
      guard one >= last, one < next else { throw Self.malformed(moment) }
      open.append(one)
      last = one
    }
    guard least <= next else { throw Self.malformed(moment) }
    (self.number, self.least, self.next, self.open) = (number, least, next, open)
  }

  private static func malformed(_ moment: UnsafeRawBufferPointer) -> PersistenceError {
    .damaged("the server sent \(moment.count) bytes that are no moment of a transaction")
  }

  /// Whether another transaction had ended when this one began.
  package func sees(_ other: UInt64) -> Bool { other < least || (other < next && !isOpen(other)) }

  private func isOpen(_ other: UInt64) -> Bool {
    var (start, end) = (0, open.count)
    while start < end {
      let middle = (start + end) / 2
      if open[middle] < other { start = middle + 1 } else { end = middle }
    }
    return start < open.count && open[start] == other
  }
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
