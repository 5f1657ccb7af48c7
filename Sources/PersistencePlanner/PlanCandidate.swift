import PersistenceDriver

/// A plan with what the choice among plans asks of it.
struct PlanCandidate {
  var plan: AccessPlan
  /// How narrow the ranges look, before anything is counted; 0 where they are everything.
  var score: Int
  /// Whether at most one record can be found by it.
  var isPoint: Bool
  /// The conditions that the ranges decide, by number.
  var covered: Set<Int>
  /// The other conditions that the path's keys decide.
  var keyTerms: Set<Int> = []
  /// Whether the keys hold the fields that are wanted and all that is evaluated.
  var holdsNeeds = false

  /// Whether the path's keys hold all of these fields; few names are compared faster than hashed.
  func holds(_ fields: [String]) -> Bool {
    fields.allSatisfy { field in
      let name = StoredName(field)
      return plan.components.contains { StoredName($0) == name }
    }
  }

  var isIndex: Bool { if case .index = plan.path { true } else { false } }

  /// Whether an index leads to some of the records only.
  var isNarrowIndex: Bool { isIndex && score > 0 && !plan.ranges.isEmpty }
}
