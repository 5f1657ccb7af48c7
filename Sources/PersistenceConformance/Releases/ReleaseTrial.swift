import PersistenceCore
import PersistenceDriverSupport

/// One release on one engine: its store, made with records, and opened by the code of today.
struct ReleaseTrial {
  typealias Release = (version: String, document: SchemaDocument)

  let schema: any StoreSchema.Type
  let present: SchemaDocument
  let release: Release
  let later: [Release]
  let context: ContextUnderTest
  let values: [String: [PersistentValue]]
  let seed: UInt64

  private var name: String { "release \(release.version) on \(context.name)" }

  /// Tests all ways to the present.
  ///
  /// - Returns: A repository over the store that skipped all later releases.
  func run() throws -> Repository {
    for number in 1...max(1, later.count) where number <= later.count {
      try runThrough(Array(later.prefix(number)))
    }
    return try runDirectly()
  }

  // MARK: - Ways

  /// Opens the release's store, kills the opening at all moments, and opens the store again.
  private func runDirectly() throws -> Repository {
    let store = try context.makeStore()
    let (storage, before) = try make(store)
    let unchanged = try StoredContent(storage)
    let copies = KillCopies(of: store)
    let hasFiles = storage.capabilities.isDurable && storage.capabilities.hasFiles
    let witness = WitnessedContext(storage) { if hasFiles { try copies.take(isCommit: $0) } }
    try open(witness, "")
    try compare(before, storage, witness, "")
    let changed = try StoredContent(storage)
    for (number, copy) in copies.all.enumerated() {
      let place = ", killed at moment \(number + 1)"
      let killed = try copy.open().storage
      defer { try? killed.close() }
      let found = try StoredContent(killed)
      guard found.isSame(as: unchanged) || found.isSame(as: changed) else {
        throw ConformanceFailure(
          name + place, expected: "the whole store of before, or of after", found: "neither", file: #fileID,
          line: #line)
      }
      let again = WitnessedContext(killed)
      try open(again, place)
      try compare(before, killed, again, place)
    }
    var repository = Repository(storage)
    _ = try store.reopen(&repository)
    let again = WitnessedContext(try repository.storage)
    try open(again, ", opened again")
    try expect(again.transactions, equals: 0, "\(name), opened again: transactions (contract S6)")
    try expect(
      StoredContent(repository.storage).isSame(as: changed), "\(name), opened again: the same content")
    return repository
  }

  /// Opens a store that later releases have opened before, as far as files can repeat what their code did.
  private func runThrough(_ releases: [Release]) throws {
    let place = ", by way of " + releases.map(\.version).joined(separator: ", ")
    let (storage, before) = try make(try context.makeStore())
    defer { try? storage.close() }
    for release in releases {
      do {
        try storage.keepingTransaction(.exclusive, declares: true) {
          try release.document.apply(in: $0, location: storage.location)
        }
      } catch let error as PersistenceError where [.unsupported, .schemaMismatch].contains(error.code) {
        return  // only that release's code can
      }
    }
    let witness = WitnessedContext(storage)
    try open(witness, place)
    try compare(before, storage, witness, place)
  }

  /// Makes the release's store; returns its records by model.
  private func make(_ store: StoreUnderTest) throws -> (any StorageContext, [[[PersistentValue]]]) {
    let storage = try store.open().storage
    var records = ReleaseRecords(seed: seed, storage.capabilities, values: values)
    // References are checked when all models have their records.
    try storage.transaction { transaction in
      try release.document.apply(in: transaction, location: storage.location)
      var targets: [String: [Int: SchemaDocument.Model]] = [:]
      for model in release.document.models { targets[model.name] = self.targets(of: model) }
      for model in release.document.models {
        try records.insert(model, lineage(model), targets: targets[model.name] ?? [:], in: transaction)
      }
      try deleteDangling(targets, in: transaction)
    }
    try storage.keepingTransaction(.exclusive, declares: true) {
      try release.document.apply(in: $0, location: storage.location)
    }
    let rows = try release.document.models.map { model in
      try RowStore.rows(of: FetchRequest(model.declaration.schema), from: storage)
    }
    return (storage, rows)
  }

  private func open(_ context: WitnessedContext, _ place: String) throws {
    do {
      _ = try Repository(context, schema: schema)
    } catch {
      let sources = present.models.flatMap { model in
        model.computations.flatMap(\.from).map { "\(model.name).\($0)" }
      }
      let hint =
        sources.isEmpty || (error as? PersistenceError)?.code == .schemaMismatch
        ? ""
        : "; if a rule cannot compute from every value of its sources, give the tester values of "
          + sources.joined(separator: " or ")
      throw ConformanceFailure(
        name + place, expected: "the store opens with \(schema)", found: "\(error)\(hint)", file: #fileID,
        line: #line)
    }
  }

  // MARK: - References

  /// The release's model that each field of a model refers to, now or in a later release, by position.
  private func targets(of model: SchemaDocument.Model) -> [Int: SchemaDocument.Model] {
    let documents = [release.document] + later.map(\.document) + [present]
    var targets: [Int: SchemaDocument.Model] = [:]
    for position in model.fields.indices {
      for (number, document) in documents.enumerated() {
        let lineage = FieldLineage(model, through: Array(documents[1..<(number + 1)]))
        let now = lineage.fields.first {
          if case .released(position, _) = $0.source { true } else { false }
        }
        guard let now, let reference = document.model(lineage.model)?.field(now.name)?.reference else {
          continue
        }
        targets[position] = release.document.models.first { target in
          let past = FieldLineage(target, through: Array(documents[1..<(number + 1)]))
          return [past.model].containsName(reference.target)
        }
        if targets[position] != nil { break }
      }
    }
    return targets
  }

  /// Deletes records whose targets an engine or a unique index has rejected, and those that refer to the deleted ones.
  private func deleteDangling(
    _ targets: [String: [Int: SchemaDocument.Model]], in transaction: any StorageTransaction
  ) throws {
    let references = targets.flatMap { model, fields in
      fields.compactMap { position, target -> StoredReference? in
        guard let model = release.document.model(model) else { return nil }
        return StoredReference(
          model: model.name, field: model.fields[position].schema.name, target: target.name, rule: .restrict)
      }
    }
    var isWhole = references.isEmpty
    while !isWhole {
      isWhole = true
      for reference in references {
        guard let schema = try transaction.schema(named: reference.model) else { continue }
        var dangling: [RecordKey] = []
        try transaction.forEachDangling(of: reference) { record, _ in
          dangling.append(record)
          return true
        }
        for key in dangling { _ = try transaction.delete(key, in: schema) }
        if !dangling.isEmpty { isWhole = false }
      }
    }
  }

  // MARK: - Values

  private func lineage(_ model: SchemaDocument.Model) -> FieldLineage {
    FieldLineage(model, through: later.map(\.document) + [present])
  }

  /// Compares the records with those of the release, field by field.
  private func compare(
    _ before: [[[PersistentValue]]], _ storage: any StorageContext, _ witness: WitnessedContext,
    _ place: String
  ) throws {
    for (model, records) in zip(release.document.models, before) {
      let lineage = lineage(model)
      if lineage.isRemoved || witness.hasWritten([model.name, lineage.model]) { continue }
      let stored = try storage.schema(named: lineage.model)
      let rows = try stored.map { try RowStore.rows(of: FetchRequest($0), from: storage) } ?? []
      guard rows.count == records.count, let stored else {
        throw failure(
          "\(model.name)\(place)", "\(records.count) records of \(lineage.model)", "\(rows.count)")
      }
      try check(model, lineage, records)
      for field in lineage.fields {
        let found = stored.position(of: field.name)
        for (record, row) in zip(records, rows) {
          guard let expected = field.source.value(in: record) else { continue }
          let value = found.map { row[$0] }
          if let value, FuzzValue.isSame(expected, value) { continue }
          throw failure(
            "\(title(of: field, model, lineage)) of the record \(key(of: record, model))\(place)",
            FuzzSource.value(expected), value.map(FuzzSource.value) ?? "no field \(field.name)")
        }
      }
    }
  }

  /// Requires the code to mention the model and each field.
  private func check(
    _ model: SchemaDocument.Model, _ lineage: FieldLineage, _ records: [[PersistentValue]]
  ) throws {
    guard let now = present.models.first(where: { [$0.name].containsName(lineage.model) }) else {
      throw failure(model.name, "the model, or a rule that removes it", "a model that no code reads")
    }
    let declared = now.fields.map(\.schema.name)
    for field in lineage.fields where !declared.containsName(field.name) {
      guard case .released(let position, _) = field.source,
        let record = records.first(where: { !$0[position].isNull })
      else { continue }
      throw failure(
        "\(title(of: field, model, lineage)) of the record \(key(of: record, model))",
        "a property, with was: if the field was renamed, or a rule that removes it",
        "\(FuzzSource.value(record[position])), which no code reads")
    }
  }

  private func title(of field: FieldLineage.Field, _ model: SchemaDocument.Model, _ lineage: FieldLineage)
    -> String
  {
    var old: String?
    if case .released(let position, _) = field.source { old = model.fields[position].schema.name }
    let (before, now) = ("\(model.name).\(old ?? field.name)", "\(lineage.model).\(field.name)")
    return before == now ? before : "\(before), now \(now),"
  }

  private func key(of record: [PersistentValue], _ model: SchemaDocument.Model) -> String {
    let names = model.fields.map(\.schema.name)
    let values = model.key.compactMap { key in names.firstIndex { [$0].containsName(key) } }
      .map { FuzzSource.value(record[$0]) }
    return "(\(values.joined(separator: ", ")))"
  }

  private func failure(_ subject: String, _ expected: String, _ found: String) -> ConformanceFailure {
    ConformanceFailure(
      "\(name): \(subject)", expected: expected, found: found, file: #fileID, line: #line)
  }
}

extension FieldLineage.Source {
  /// The present value in a record of the release; nil if only code knows it.
  func value(in record: [PersistentValue]) -> PersistentValue? {
    switch self {
    case .released(let position, let replacement):
      record[position].isNull ? FuzzValue.stored(replacement ?? .null) : record[position]
    case .constant(let value): FuzzValue.stored(value)
    case .computed: nil
    }
  }
}

extension StoredContent {
  /// Whether two contents are identical to the bit.
  func isSame(as other: StoredContent) -> Bool {
    catalog == other.catalog
      && zip(rows, other.rows).allSatisfy { left, right in
        FuzzValue.isSame(left, right)
      }
  }
}
