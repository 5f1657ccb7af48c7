import PersistenceDriver

/// What plans cost, in steps of a cursor from an entry to the next.
///
/// The figures are those of LMDB in memory, rounded: they need only tell apart plans that differ much.
struct PlanCost {
  /// Looking at the fields of a key.
  static let keyFields = 0.5
  /// Looking at fields of a record in place.
  static let recordFields = 1.5
  /// Going from an index entry to its record.
  static let lookup = 8.0
  /// Making a sort key and sorting it.
  static let sorting = 4.0
  /// Finding a sorted row again.
  static let reading = 6.0
  /// Entering a key into a set of keys, and looking for one there.
  static let collecting = 3.0
  static let probing = 2.0

  /// How many entries may be read and sorted before the first row where a path in order, which holds nothing, gives
  /// the rows too.
  static let sortedEntriesLimit = 16_384.0
  /// How many rows may be kept of a sort that only the first are wanted of, where such a path does.
  static let sortedRowsLimit = 65_536.0
  /// How many keys one side of an intersection may have.
  static let collectedKeysLimit = 65_536.0

  /// How many records there are, and how many fit.
  var total: Double
  var rows: Double
  /// How many rows are wanted at most.
  var wanted: Double
  var isOrderNeeded: Bool
  /// The fields that rows are sorted by.
  var order: [String]

  /// What looking at one entry of a path costs where everything that is met is wanted.
  static func step(_ candidate: PlanCandidate) -> Double {
    if candidate.holdsNeeds { return 1 + keyFields }
    return 1 + (candidate.isIndex ? lookup : 0) + recordFields
  }

  /// What a plan costs.
  ///
  /// - Parameters:
  ///   - candidate: The plan.
  ///   - entries: How many entries its ranges hold.
  ///   - passed: Which part of them fits what the keys decide.
  /// - Returns: The cost.
  func cost(_ candidate: PlanCandidate, entries: Double, passed: Double) -> Double {
    let isSorted = isOrderNeeded && !candidate.plan.isOrdered
    let readsRecords =
      isSorted
      ? !candidate.holds(order) || !candidate.holds(candidate.plan.residual?.fields ?? [])
      : !candidate.holdsNeeds
    var cost = entries
    if !candidate.keyTerms.isEmpty || !readsRecords { cost += entries * Self.keyFields }
    if readsRecords {
      let met = entries * (candidate.isIndex ? passed : 1)
      cost += met * (Self.recordFields + (candidate.isIndex ? Self.lookup : 0))
    }
    if isSorted { return cost + rows * Self.sorting + min(rows, wanted) * Self.reading }
    return cost * min(1, wanted / max(1, rows))
  }

  /// What it costs to collect the keys of one path and to look for those of another among them.
  func intersecting(_ walked: Double, _ collected: Double) -> Double {
    collected * (1 + Self.collecting) + walked * Self.probing
  }
}
