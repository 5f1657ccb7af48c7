import PersistenceDriver
import PersistencePrimitives

/// The references of a store by their two ends.
final class ReferenceMap {
  /// The references among the fields of one schema's rows.
  final class Outgoing {
    /// Keeps the identity, by which this entry is found, from being used again.
    private let schema: ModelSchema
    let fields: [(position: Int, target: StoredName)]
    /// Whether references point at records of the model.
    let isTarget: Bool

    init(_ schema: ModelSchema, _ fields: [(position: Int, target: StoredName)], isTarget: Bool) {
      self.schema = schema
      self.fields = fields
      self.isTarget = isTarget
    }
  }

  let all: [StoredReference]
  /// The references that have ended.
  let ended: [StoredReference]
  private let byModel: [StoredName: [StoredReference]]
  private let byTarget: [StoredName: [StoredReference]]
  private var bySchema: [ObjectIdentifier: Outgoing] = [:]

  init(_ references: [StoredReference]) {
    all = references.filter { !$0.isEnded }
    ended = references.filter(\.isEnded)
    byModel = Dictionary(grouping: all) { StoredName($0.model) }
    byTarget = Dictionary(grouping: all) { StoredName($0.target) }
  }

  /// The references that point at records of a model.
  func references(to target: StoredName) -> [StoredReference] { byTarget[target] ?? [] }

  /// The references of a model's fields.
  func references(of model: StoredName) -> [StoredReference] { byModel[model] ?? [] }

  /// The references among the fields of a schema's rows.
  func outgoing(_ schema: ModelSchema) -> Outgoing {
    if let known = bySchema[schema.identity] { return known }
    let name = StoredName(schema.name)
    let outgoing = Outgoing(
      schema,
      references(of: name).compactMap { reference in
        schema.position(of: reference.field).map { ($0, StoredName(reference.target)) }
      }, isTarget: byTarget[name] != nil)
    bySchema[schema.identity] = outgoing
    return outgoing
  }
}
