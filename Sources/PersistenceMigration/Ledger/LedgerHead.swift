import PersistenceDriver

/// The identity of a migration in the ledger.
///
/// The property names are the stored format.
struct LedgerHead: Codable, Hashable {
  /// The ledger format that this version of the package writes.
  static let currentFormat = 1

  var format = currentFormat
  /// The location of the source, without secrets.
  var source: String
  /// The schemas of the copied models in the source.
  var schemas: [ModelSchema]
  /// The models' names in the destination, in the same order.
  var destinationNames: [String]
  var mapping: MigrationMapping
  var allowsLoss: Bool
  var conflicts: MigrationOptions.Conflicts
  var hasDigests: Bool

  /// Describes how this migration differs from another; nil if they are the same.
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
      return "it renames models differently"
    }
    if mapping != other.mapping || allowsLoss != other.allowsLoss { return "it maps fields differently" }
    if conflicts != other.conflicts {
      return "it resolves conflicts by \(conflicts.rawValue), not \(other.conflicts.rawValue)"
    }
    if hasDigests != other.hasDigests {
      return hasDigests
        ? "it computes digests, so this run must verify by digest"
        : "it computes no digests, so this run cannot verify by digest"
    }
    return nil
  }
}
