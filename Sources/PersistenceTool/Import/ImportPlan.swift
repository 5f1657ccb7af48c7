import PersistenceDriver

/// The plan of an import: the schema, and the origin of its fields.
struct ImportPlan {
  /// The settings of a command line.
  struct Overrides {
    var model: String?
    /// The key's fields, or `generate`.
    var key: [String] = []
    /// The given kinds, by field name.
    var kinds: [StoredName: FieldSchema] = [:]
    var indexes: [String] = []
    var uniqueIndexes: [String] = []

    var generatesKey: Bool { key == [ImportPlan.generate] }
  }

  /// The option that requests a generated key.
  static let generate = "generate"
  /// The names of a generated key, in order of preference.
  static let generatedNames = ["id", "key", "recordNumber"]

  let schema: ModelSchema
  /// The position of the generated key; nil for none.
  let generatedPosition: Int?
  /// The inferred fields; empty if the schema was given.
  let inferences: [StoredName: FieldInference]
  /// The number of records; nil if the plan did not read the file.
  let recordCount: Int?
}

extension ImportPlan {
  /// Makes a plan from all records of a file.
  ///
  /// - Throws: ``ToolFailure`` if the key or an index has an unknown or unsuitable field.
  static func inferring(from source: any RecordSource, _ overrides: Overrides, _ session: ToolSession) throws
    -> ImportPlan
  {
    guard let model = overrides.model else {
      throw ToolFailure.usage("the model's name is missing; add --model NAME")
    }
    guard !overrides.key.isEmpty else {
      throw ToolFailure.usage("the key is missing; add --key FIELD, or --key generate")
    }
    let found = try infer(source, session)
    guard !found.inferences.isEmpty else { throw ToolFailure.inputOutput("the file has no records") }
    for name in overrides.kinds.keys where !found.inferences.contains(where: { StoredName($0.name) == name })
    {
      throw unknown(name.text, "--kind", found.inferences)
    }
    var fields = found.inferences.map { inference in
      let specified = overrides.kinds[StoredName(inference.name)]
      let missing = found.count - inference.valueCount
      return FieldSchema(
        inference.name, specified?.kind ?? inference.kind,
        isOptional: specified?.isOptional == true || missing > 0)
    }
    var key = overrides.key
    var generatedPosition: Int?
    if overrides.generatesKey {
      let taken = Set(fields.map { StoredName($0.name) })
      guard let name = generatedNames.first(where: { !taken.contains(StoredName($0)) }) else {
        throw ToolFailure.usage(
          "the file has fields with the names \(generatedNames.joined(separator: ", ")); choose the key with --key FIELD"
        )
      }
      fields.insert(FieldSchema(name, .int64), at: 0)
      key = [name]
      generatedPosition = 0
    } else {
      for name in key { try makeKey(name, &fields, overrides, found.inferences) }
    }
    for name in overrides.indexes + overrides.uniqueIndexes
    where !fields.contains(where: { StoredName($0.name) == StoredName(name) }) {
      throw unknown(name, "--index", found.inferences)
    }
    let schema = try ModelSchema(
      name: model, fields: fields, key: key,
      indexes: overrides.indexes.map { IndexSchema([$0]) }
        + overrides.uniqueIndexes.map { IndexSchema([$0], isUnique: true) })
    return ImportPlan(
      schema: schema, generatedPosition: generatedPosition,
      inferences: Dictionary(found.inferences.map { (StoredName($0.name), $0) }) { first, _ in first },
      recordCount: found.count)
  }

  /// Makes a field part of the key: not optional, and of a kind that keys may have.
  private static func makeKey(
    _ name: String, _ fields: inout [FieldSchema], _ overrides: Overrides, _ inferences: [FieldInference]
  ) throws {
    guard let position = fields.firstIndex(where: { StoredName($0.name) == StoredName(name) }) else {
      throw unknown(name, "--key", inferences)
    }
    fields[position].isOptional = false
    guard fields[position].kind.isKey else {
      throw ToolFailure.usage(
        "“\(name)” cannot be the key: it is \(fields[position].kind.rawValue), but keys are int64, string or "
          + "uuid; --kind \"\(name)=string\" makes it text, and --key generate adds another key")
    }
  }

  private static func unknown(_ name: String, _ option: String, _ inferences: [FieldInference]) -> ToolFailure
  {
    let known = inferences.map { "“\($0.name)”" }.joined(separator: ", ")
    return ToolFailure.usage(
      TerminalText.safe("\(option): the file has no field “\(name)”; its fields are \(known)"))
  }

  private static func infer(_ source: any RecordSource, _ session: ToolSession) throws
    -> (inferences: [FieldInference], count: Int)
  {
    var inferences: [FieldInference] = []
    var positions: [StoredName: Int] = [:]
    var count = 0
    let progress = ProgressDisplay(session)
    try source.forEach { record in
      guard case .success(let fields) = record.fields else { return }
      count += 1
      if count.isMultiple(of: 256) {
        try session.checkInterrupt()
        try progress.update("reading records", done: count, total: nil)
      }
      for field in fields {
        let name = StoredName(field.name)
        let position = positions[name] ?? inferences.count
        if position == inferences.count {
          positions[name] = position
          inferences.append(FieldInference(field.name))
        }
        inferences[position].note(field.value)
      }
    }
    try progress.finish()
    return (inferences, count)
  }

  /// Makes a plan for the schema of a schema file, or of the store's catalog.
  ///
  /// - Throws: ``ToolFailure`` if the settings of the command line contradict the schema.
  static func existing(_ schema: ModelSchema, from origin: String, _ overrides: Overrides) throws
    -> ImportPlan
  {
    if let model = overrides.model, StoredName(model) != StoredName(schema.name) {
      throw ToolFailure.usage(
        "--model \(model) contradicts \(origin), which has \(schema.name); --infer ignores it")
    }
    guard overrides.kinds.isEmpty, overrides.indexes.isEmpty, overrides.uniqueIndexes.isEmpty else {
      throw ToolFailure.usage(
        "--kind, --index and --unique contradict the schema from \(origin); to ignore it, use --infer"
      )
    }
    var generatedPosition: Int?
    if overrides.generatesKey {
      guard schema.keyPositions.count == 1, schema.fields[schema.keyPositions[0]].kind == .int64 else {
        throw ToolFailure.usage("the key of \(schema.name) is not a single int64, so it cannot be generated")
      }
      generatedPosition = schema.keyPositions[0]
    } else if !overrides.key.isEmpty, overrides.key.map(StoredName.init) != schema.key.map(StoredName.init) {
      throw ToolFailure.usage("--key contradicts \(origin), which has \(schema.key.joined(separator: ", "))")
    }
    return ImportPlan(schema: schema, generatedPosition: generatedPosition, inferences: [:], recordCount: nil)
  }
}
