import PersistenceDriver

/// What the ledger knows of the whole migration: what tells it from another one.
struct LedgerHead: Codable, Hashable {
  /// The form of the ledger that this version of the package writes.
  static let currentFormat = 1

  var format = currentFormat
  /// Where the source is, without secrets.
  var source: String
  /// The models that are copied, as the source has them.
  var schemas: [ModelSchema]
  /// The names of the models in the destination, in the same order.
  var destinationNames: [String]
  /// How models and fields are changed on their way.
  var mapping: MigrationMapping
  /// Whether values may lose something on their way.
  var allowsLoss: Bool
  var conflicts: MigrationOptions.Conflicts
  /// Whether digests are made.
  var hasDigests: Bool

  /// How another migration differs from the one that the ledger knows; nil where it is the same.
  func difference(from other: LedgerHead) -> String? {
    if source != other.source { return "its source is \(source), not \(other.source)" }
    let (names, others) = (schemas.map(\.name), other.schemas.map(\.name))
    if names.map(StoredName.init) != others.map(StoredName.init) {
      return "it copies the models \(names.joined(separator: ", ")), not \(others.joined(separator: ", "))"
    }
    for (schema, other) in zip(schemas, other.schemas) {
      let differences = other.differences(from: schema)
      if !differences.isEmpty {
        return "\(schema.name) has changed in the source: \(differences.joined(separator: "; "))"
      }
    }
    if destinationNames.map(StoredName.init) != other.destinationNames.map(StoredName.init) {
      return "it gives the models other names in the destination"
    }
    if mapping != other.mapping || allowsLoss != other.allowsLoss {
      return "it maps the fields otherwise"
    }
    if conflicts != other.conflicts {
      return "it deals with conflicts by \(conflicts.rawValue), not \(other.conflicts.rawValue)"
    }
    if hasDigests != other.hasDigests {
      return hasDigests
        ? "it makes digests to verify by, which cannot be left out now"
        : "it makes no digests, so the part that was copied cannot be verified by them"
    }
    return nil
  }
}
