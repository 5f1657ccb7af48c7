import PersistenceDriver

/// The cost of plans, in steps of a cursor from one entry to the next.
///
/// The constants are rounded measurements of LMDB with the store in memory. They only have to tell apart
/// plans that differ a lot.
struct PlanCost {
  /// Decoding fields from a key.
  static let keyFields = 0.5
  /// Decoding fields of a record in place.
  static let recordFields = 1.5
  /// Looking up the record of an index entry.
  static let lookup = 8.0
  /// Encoding and sorting a sort key.
  static let sorting = 4.0
  /// Looking up a sorted row.
  static let reading = 6.0
  /// Inserting a key into a set, and probing the set.
  static let collecting = 3.0
  static let probing = 2.0

  /// How many entries a plan may read and sort before the first row if another path yields the order without
  /// a sort.
  static let sortedEntriesLimit = 16_384.0
  /// How many rows a top-*n* sort may buffer if another path yields the order without a sort.
  static let sortedRowsLimit = 65_536.0
  /// The largest number of keys on the buffered side of an intersection.
  static let collectedKeysLimit = 65_536.0

  /// The number of records, and of those that match.
  var total: Double
  var rows: Double
  /// The largest number of rows that the caller reads.
  var wanted: Double
  var isOrderNeeded: Bool
  /// The fields of the sort order.
  var order: [String]

  /// The cost of one entry of a path if every entry matches.
  static func step(_ candidate: PlanCandidate) -> Double {
    if candidate.isCovering { return 1 + keyFields }
    return 1 + (candidate.isIndex ? lookup : 0) + recordFields
  }

  /// The cost of a plan whose ranges contain `entries`, of which a fraction passes the conditions on keys.
  func cost(_ candidate: PlanCandidate, entries: Double, passed: Double) -> Double {
    let isSorted = isOrderNeeded && !candidate.plan.isOrdered
    let readsRecords =
      isSorted
      ? !candidate.holds(order) || !candidate.holds(candidate.plan.residual?.fields ?? [])
      : !candidate.isCovering
    var cost = entries
    if !candidate.keyTerms.isEmpty || !readsRecords { cost += entries * Self.keyFields }
    if readsRecords {
      let met = entries * (candidate.isIndex ? passed : 1)
      cost += met * (Self.recordFields + (candidate.isIndex ? Self.lookup : 0))
    }
    if isSorted { return cost + rows * Self.sorting + min(rows, wanted) * Self.reading }
    return cost * min(1, wanted / max(1, rows))
  }

  /// The cost of buffering the keys of one path and probing them with the keys of another.
  func intersecting(_ walked: Double, _ collected: Double) -> Double {
    collected * (1 + Self.collecting) + walked * Self.probing
  }
}
