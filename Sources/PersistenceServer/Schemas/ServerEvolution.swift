#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport

  /// The changes of models that the clients of a server may make.
  ///
  /// A client may always define a model that the store does not have.
  public enum ServerEvolution: Sendable, Hashable {
    /// None: a definition that the store would have to change for is rejected.
    case none
    /// Additions: optional fields, fields with a fill, and indexes that are not unique.
    ///
    /// No record is rewritten, and earlier clients keep working. The request that adds an index builds it, on a large store
    /// in parts, between which others write.
    case additive

    /// Whether clients may make a change.
    func allows(_ plan: SchemaPlan) -> Bool { self == .additive && plan.isAdditive }
  }

  extension SchemaPlan {
    /// Whether the change only adds what earlier programs need not know.
    fileprivate var isAdditive: Bool {
      let (stored, target) = (change.stored, change.target)
      return !isDeclared && StoredName(stored.name) == StoredName(target.name) && change.onlyAppends
        && target.fields.starts(with: stored.fields) && stored.indexes.allSatisfy(target.indexes.contains)
        && zip(target.indexes, change.indexOrigins).allSatisfy { $1 != nil || !$0.isUnique }
    }

    /// What the store lacks of a declaration, if its change has a cost.
    func differences(from declared: ModelSchema, cost: EvolutionCost) -> [SchemaDifference] {
      let fieldCost: EvolutionCost = cost == .rewrite ? .rewrite : .catalog
      var differences: [SchemaDifference] = []
      for (field, source) in zip(change.target.fields, change.sources) {
        if case .field(let position, nil) = source, change.stored.fields[position] == field { continue }
        differences.append(
          SchemaDifference(declared, declared.field(named: field.name) ?? field, .cost(fieldCost)))
      }
      if change.indexOrigins.contains(nil) {
        differences.append(SchemaDifference(declared, nil, .cost(max(cost, .indexes))))
      }
      return differences.isEmpty ? [SchemaDifference(declared, nil, .cost(fieldCost))] : differences
    }
  }
#endif
