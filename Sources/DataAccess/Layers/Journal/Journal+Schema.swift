import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

extension Journal {
  /// Adapts the journal to the present declaration, once in each process.
  ///
  /// A region of objects with other fields is not known any more: the layer never received the values of a field that
  /// is new or has another kind, so no region stays. If fields were only removed, or only have other names, only the
  /// regions that mention them go.
  func adoptSchema(by writer: UUID) throws {
    let schema = try Object.schema.model
    try adoptFormerNames(by: writer)
    let last = try LayerSchemas.last(of: model, in: repository)
    guard last != schema else { return }
    if let last { try forgetCoverage(after: last, becoming: schema, by: writer) }
    try LayerSchemas.use(schema, in: repository)
  }

  private func forgetCoverage(
    after last: ModelSchema, becoming schema: ModelSchema, by writer: UUID
  ) throws {
    let isCovered = try StoredDeclaration.fit(Object.self, to: last, in: repository).keepsValues
    guard isCovered else {
      try forgetCoverage()
      _ = try advance(by: writer)
      return
    }
    let fields = Set(
      last.fields.filter { !schema.fields.contains($0) }.map { StoredName($0.name) }
        + schema.fields.filter { !last.fields.contains($0) }.map { StoredName($0.name) })
    for record in try repository.filter(CoverageRecord.self, where: \.model == model).result().checkedArray()
    {
      let coverage = try LayerCoding.value(Coverage.self, record.content)
      guard coverage.fields.contains(where: { fields.contains(StoredName($0)) }) else { continue }
      try repository.delete(CoverageRecord.self, id: record.primaryKey)
    }
  }
}

extension SchemaFit {
  /// Whether each present field has the values of one stored field of the same kind.
  fileprivate var keepsValues: Bool {
    let mapping: SchemaMapping?
    switch self {
    case .absent, .refused: return false
    case .same: return true
    case .mapped(let found): mapping = found
    case .evolves(let plan): mapping = plan.reading
    }
    guard let mapping else { return false }
    return zip(mapping.declared.fields, mapping.sources).allSatisfy { field, source in
      guard case .stored(let position) = source else { return false }
      return mapping.stored.fields[position].kind == field.kind
    }
  }
}

extension Coverage {
  /// The names of the fields that the region depends on.
  fileprivate var fields: [String] { (predicate?.fields ?? []) + order.map(\.field) }
}
