package import PersistenceDriver
import PersistencePrimitives

/// What a declaration needs in order to use a store: nothing, a mapping, a change, or more words.
package enum SchemaFit: Sendable {
  /// The store does not contain the model.
  case absent
  /// The schemas are equal.
  case same
  /// The declaration uses the store as it is.
  case mapped(SchemaMapping)
  /// The store changes first.
  case evolves(SchemaPlan)
  /// The declaration does not say enough, or the store has left it behind.
  case refused([SchemaDifference])
}

extension SchemaFit {
  /// Whether the declaration may be that of the newest version: the store has its fields under their names, and has met
  /// no other declaration since.
  ///
  /// A stored field that it lacks may be one that a newer version has added, or one that it has left behind.
  package var isCurrent: Bool { hasStoredFields { $0.meeting != .earlier } }

  /// Whether the declaration is that of the newest version: it has all stored fields, or the store met it last.
  package var isNewest: Bool { hasStoredFields { $0.meeting == .last } }

  /// Whether the store has the declared fields under their names, and no others, apart from removed ones.
  ///
  /// The fields may have another order: an opening adds new ones at the end. The closure tells whether the declaration may
  /// lack stored fields.
  private func hasStoredFields(_ mayLackSome: (SchemaMapping) -> Bool) -> Bool {
    switch self {
    case .same: true
    case .mapped(let mapping):
      StoredName(mapping.declared.name) == StoredName(mapping.stored.name)
        && mapping.declared.key.map(StoredName.init) == mapping.stored.key.map(StoredName.init)
        && mapping.declared.fields.allSatisfy { mapping.stored.field(named: $0.name) == $0 }
        && (mayLackSome(mapping)
          || mapping.stored.fields.allSatisfy {
            mapping.declared.position(of: $0.name) != nil || ModelHistory.isRemoved($0.name)
          })
    case .absent, .evolves, .refused: false
    }
  }
}

/// A change of one model, and what the store remembers of it.
package struct SchemaPlan: Sendable {
  package var change: SchemaChange
  package var history: ModelHistory
  /// How the declaration reads the store before the change; nil if it cannot.
  package var reading: SchemaMapping?
  /// Whether the change writes what only an opening with a `StoreSchema` may write.
  package var isDeclared: Bool
}
