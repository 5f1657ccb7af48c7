import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// What prevents code from opening the stores of releases, or would change them unasked.
struct ReleaseFindings {
  typealias Release = (version: String, document: SchemaDocument)

  /// Each finding with the releases that it concerns, in the order of discovery.
  private var findings: [(text: String, versions: [String])] = []
  private var differences: [SchemaDifference] = []
  /// Adds a finding; one that is known only gets another release.
  mutating func add(_ text: String, in version: String? = nil) {
    let versions = [version].compactMap(\.self)
    if let index = findings.firstIndex(where: { $0.text == text }) {
      findings[index].versions += versions.filter { !findings[index].versions.contains($0) }
    } else {
      findings.append((text, versions))
    }
  }

  func requireNone() throws {
    guard !findings.isEmpty else { return }
    let lines = findings.map { finding in
      let versions = finding.versions.isEmpty ? "" : " (release \(finding.versions.joined(separator: ", ")))"
      return "\n- " + finding.text + versions
    }
    var error = PersistenceError(
      .schemaMismatch, "the code is not ready for release:" + lines.joined())
    error.differences = differences
    throw error
  }

  /// Checks the code against itself and all releases.
  mutating func check(
    _ schema: any StoreSchema.Type, _ document: SchemaDocument, _ releases: [Release]
  ) throws {
    try checkRules(schema, document)
    let documents = releases.map(\.document)
    for release in releases {
      for loss in document.losses(since: release.document, among: documents) {
        add(loss, in: release.version)
      }
    }
    for (position, release) in releases.enumerated() {
      checkUniqueFills(document, since: release)
      let store = MemoryContext()
      guard open(store, release) else { continue }
      open(store, schema, as: release.version)
      // The store may also have met each later release.
      let (older, later) = (MemoryContext(), releases[position...])
      guard later.count > 1, later.allSatisfy({ open(older, $0) }) else { continue }
      open(older, schema, as: "\(release.version) by way of later releases")
    }
  }

  private mutating func checkRules(_ schema: any StoreSchema.Type, _ document: SchemaDocument) throws {
    // A schema that is a computed property is computed again here, and so are its fills.
    let again = try StoreEvolution(MemoryContext(), schema).declarations
    for declaration in again {
      guard let model = document.model(declaration.schema.name) else { continue }
      for (field, past) in zip(model.fields, declaration.fields) where field.fill != past.fill {
        add(
          "\(model.name).\(field.schema.name): the fill has another value at each evaluation; use a constant")
      }
    }
    for model in document.models {
      let computed = model.computations.flatMap(\.fields)
      for field in model.fields where field.replacement != nil && computed.containsName(field.schema.name) {
        add(
          "\(model.name).\(field.schema.name): .fill and .compute give the field a value; delete one of them")
      }
      for field in model.fields where field.replacement != nil && model.isUnique(field) {
        add("\(model.name).\(UniqueFill.finding(field.schema.name))")
      }
    }
  }

  /// Checks the unique fields that a release lacks, and that get one value in all its records.
  private mutating func checkUniqueFills(_ document: SchemaDocument, since release: Release) {
    for model in document.models {
      guard
        let old = release.document.models.first(where: {
          ([model.name] + model.formerNames).containsName($0.name)
        })
      else { continue }
      let computed = model.computations.flatMap(\.fields)
      for field in model.fields where model.isUnique(field) {
        let names = [field.schema.name] + field.formerNames
        guard let fill = field.fill, !fill.isNull, !computed.containsName(field.schema.name),
          !old.fields.contains(where: { names.containsName($0.schema.name) })
        else { continue }
        add("\(model.name).\(UniqueFill.finding(field.schema.name))", in: release.version)
      }
    }
  }

  /// Makes a store what a release makes it; returns false if the release could not open it.
  private func open(_ store: MemoryContext, _ release: Release) -> Bool {
    do {
      try store.keepingTransaction(.exclusive, declares: true) {
        try release.document.apply(in: $0, location: store.location)
      }
      return true
    } catch {
      return false
    }
  }

  private mutating func open(_ store: MemoryContext, _ schema: any StoreSchema.Type, as version: String) {
    do {
      let evolution = try StoreEvolution(store, schema)
      try evolution.run()
      for declaration in evolution.declarations { try checkIndexes(declaration.schema, store, in: version) }
    } catch let error as PersistenceError where !error.differences.isEmpty {
      for difference in error.differences {
        if !differences.contains(difference) { differences.append(difference) }
        add("\(difference.model): \(difference)", in: version)
      }
    } catch {
      add("opening a store fails: \(error)", in: version)
    }
  }
}

extension ReleaseFindings {
  /// Checks that a store of a release has the declared indexes.
  private mutating func checkIndexes(
    _ declared: ModelSchema, _ store: MemoryContext, in version: String
  ) throws {
    guard let stored = try store.schema(named: declared.name) else { return }
    for index in declared.indexes
    where index.fields.allSatisfy({ stored.position(of: $0) != nil })
      && !stored.indexes.contains(where: index.isServed)
    {
      add(
        "\(declared.name), index \(index): a release removed it, and stores take this version for an older one, which "
          + "declares it too; delete the index, or add or change a field in this version",
        in: version)
    }
  }
}

extension IndexSchema {
  /// Whether another index does what this one does.
  fileprivate func isServed(by other: IndexSchema) -> Bool {
    fields.map(StoredName.init) == other.fields.map(StoredName.init) && (other.isUnique || !isUnique)
  }
}

extension SchemaDocument.Model {
  /// Whether a field alone has a unique index.
  fileprivate func isUnique(_ field: SchemaDocument.Field) -> Bool {
    indexes.contains { $0.isUnique && $0.fields.count == 1 && $0.fields.containsName(field.schema.name) }
  }
}
