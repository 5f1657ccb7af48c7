import PersistenceCore

extension FuzzWords {
  /// The words for the target of a change, as far as words can express the change.
  init(_ change: FuzzChange, of stored: ModelSchema, to target: ModelSchema) {
    self.init(was: FuzzValue.isSameName(stored.name, target.name) ? nil : stored.name)
    for (field, source) in zip(target.fields, change.sources) {
      switch source {
      // A change may have a value of another kind, which stores refuse; a typed declaration cannot say it.
      case .fill(let value) where !value.isNull && FuzzValue.isValid(value, field):
        fields.append(Field(field.name, fill: value))
      case .field(let position, nil) where stored.fields.indices.contains(position):
        let name = stored.fields[position].name
        let isUsed = FuzzReference.position(of: name, in: target.fields) != nil
        guard !isUsed, !fields.contains(where: { $0.formerName == name }) else { continue }
        fields.append(Field(field.name, was: name))
      case .field, .fill, .computed: continue
      }
    }
  }
}
