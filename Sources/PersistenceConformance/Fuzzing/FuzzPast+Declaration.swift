import PersistenceCore
import PersistenceDriverSupport

extension FuzzPast {
  /// The text that is computed from sources.
  static func text(_ values: [PersistentValue]) -> PersistentValue {
    .text(values.map { "\(FuzzSource.value(FuzzFunction.text($0)))" }.joined(separator: "+"))
  }

  /// The declaration of a schema with this past.
  func declaration(of schema: ModelSchema) -> ModelDeclaration {
    var declaration = ModelDeclaration(
      schema, formerNames: formerNames,
      fields: fields.map { ModelDeclaration.Field(formerNames: $0.formerNames, fill: $0.fill) })
    declaration.restoredFields = zip(schema.fields, fields).filter { $1.isRestored == true }.map {
      field, past in
      past.formerNames.first ?? field.name
    }
    declaration.removedFields = removed.map { .init($0.name, formerNames: $0.formerNames) }
    for (field, past) in zip(schema.fields, fields) {
      declaration.replacements[StoredName(field.name)] = past.replacement
      guard !past.sources.isEmpty else { continue }
      declaration.computations.append(
        ModelDeclaration.Computation(fields: [field.name], sources: past.sources.map(\.name)) {
          $1.set(Self.text(try $0.values()), at: 0)
        })
    }
    return declaration
  }
}
