import PersistenceDriver

/// What an import will store: the schema, and where its fields come from.
struct ImportPlan {
  /// What a command line says about an import.
  struct Wishes {
    /// The model's name.
    var model: String?
    /// The key's fields, or `generate`.
    var key: [String] = []
    /// Kinds that are told, by field name.
    var kinds: [StoredName: FieldSchema] = [:]
    /// Fields to index.
    var indexes: [String] = []
    /// Fields to index uniquely.
    var uniqueIndexes: [String] = []

    /// Whether the key is to be generated.
    var generatesKey: Bool { key == [ImportPlan.generate] }
  }

  /// The word that asks for a generated key.
  static let generate = "generate"
  /// What a generated key is called, in order of preference.
  static let generatedNames = ["id", "key", "recordNumber"]

  /// What will be stored.
  let schema: ModelSchema
  /// The position of the field whose values are generated.
  let generatedPosition: Int?
  /// What was found, by field; empty where the schema was given.
  let inferences: [StoredName: FieldInference]
  /// How many records a first walk found to have each field; nil where there was none.
  let recordCount: Int?
}

extension ImportPlan {
  /// Makes a plan from all records of a file.
  ///
  /// - Throws: ``ToolFailure`` where the key or an index names no field, or one that cannot be it.
  static func inferring(from source: any RecordSource, _ wishes: Wishes, _ session: ToolSession) throws
    -> ImportPlan
  {
    guard let model = wishes.model else { throw ToolFailure.usage("say what the records are: --model NAME") }
    guard !wishes.key.isEmpty else {
      throw ToolFailure.usage("say what identifies a record: --key FIELD, or --key generate")
    }
    let found = try infer(source, session)
    guard !found.inferences.isEmpty else { throw ToolFailure.inputOutput("the file holds no records") }
    for name in wishes.kinds.keys where !found.inferences.contains(where: { StoredName($0.name) == name }) {
      throw unknown(name.text, "--kind", found.inferences)
    }
    var fields = found.inferences.map { inference in
      let told = wishes.kinds[StoredName(inference.name)]
      let missing = found.count - inference.valueCount
      return FieldSchema(
        inference.name, told?.kind ?? inference.kind, isOptional: told?.isOptional == true || missing > 0)
    }
    var key = wishes.key
    var generatedPosition: Int?
    if wishes.generatesKey {
      let taken = Set(fields.map { StoredName($0.name) })
      guard let name = generatedNames.first(where: { !taken.contains(StoredName($0)) }) else {
        throw ToolFailure.usage(
          "the file has fields called \(generatedNames.joined(separator: ", ")); name the key: --key FIELD")
      }
      fields.insert(FieldSchema(name, .int64), at: 0)
      key = [name]
      generatedPosition = 0
    } else {
      for name in key { try makeKey(name, &fields, wishes, found.inferences) }
    }
    for name in wishes.indexes + wishes.uniqueIndexes
    where !fields.contains(where: { StoredName($0.name) == StoredName(name) }) {
      throw unknown(name, "--index", found.inferences)
    }
    let schema = try ModelSchema(
      name: model, fields: fields, key: key,
      indexes: wishes.indexes.map { IndexSchema([$0]) }
        + wishes.uniqueIndexes.map { IndexSchema([$0], isUnique: true) })
    return ImportPlan(
      schema: schema, generatedPosition: generatedPosition,
      inferences: Dictionary(found.inferences.map { (StoredName($0.name), $0) }) { first, _ in first },
      recordCount: found.count)
  }

  /// Makes a field one of the key: never nil, and of a kind that keys have.
  private static func makeKey(
    _ name: String, _ fields: inout [FieldSchema], _ wishes: Wishes, _ inferences: [FieldInference]
  ) throws {
    guard let position = fields.firstIndex(where: { StoredName($0.name) == StoredName(name) }) else {
      throw unknown(name, "--key", inferences)
    }
    fields[position].isOptional = false
    guard fields[position].kind.isKey else {
      throw ToolFailure.usage(
        "“\(name)” cannot be the key: it is \(fields[position].kind.rawValue), and keys are int64, string or "
          + "uuid; --kind \"\(name)=string\" makes it text, --key generate makes another key")
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
        try progress.update("looking at the records", done: count, total: nil)
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

  /// Makes a plan for a schema that is known.
  ///
  /// - Parameters:
  ///   - schema: From a schema file, or the store's catalog.
  ///   - origin: Where it comes from, for messages.
  ///   - wishes: What the command line says, which must not contradict it.
  /// - Returns: The plan.
  /// - Throws: ``ToolFailure`` where it does contradict it.
  static func given(_ schema: ModelSchema, from origin: String, _ wishes: Wishes) throws -> ImportPlan {
    if let model = wishes.model, StoredName(model) != StoredName(schema.name) {
      throw ToolFailure.usage(
        "--model \(model) contradicts \(origin), which says \(schema.name); --infer ignores it")
    }
    guard wishes.kinds.isEmpty, wishes.indexes.isEmpty, wishes.uniqueIndexes.isEmpty else {
      throw ToolFailure.usage(
        "kinds and indexes come from \(origin), so --kind, --index and --unique contradict it; --infer ignores it"
      )
    }
    var generatedPosition: Int?
    if wishes.generatesKey {
      guard schema.keyPositions.count == 1, schema.fields[schema.keyPositions[0]].kind == .int64 else {
        throw ToolFailure.usage("the key of \(schema.name) is no single int64, so it cannot be generated")
      }
      generatedPosition = schema.keyPositions[0]
    } else if !wishes.key.isEmpty, wishes.key.map(StoredName.init) != schema.key.map(StoredName.init) {
      throw ToolFailure.usage(
        "--key contradicts \(origin), which says \(schema.key.joined(separator: ", "))")
    }
    return ImportPlan(
      schema: schema, generatedPosition: generatedPosition, inferences: [:], recordCount: nil)
  }
}
