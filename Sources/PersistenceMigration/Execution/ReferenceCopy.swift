import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// The references of a source, which a copy keeps if it has both ends of them (contract L1).
struct ReferenceCopy {
  /// The references under the names of the destination.
  private(set) var references: [StoredReference] = []
  /// The references whose target is not copied.
  private(set) var lost: [UnmappedObject] = []
  /// The declarations that the source has met, by models that keep their schema: to the copy, too, they are earlier ones.
  private var declarations: [StoredName: [String]] = [:]
  private let isChecked: Bool

  init(_ mappers: [RecordMapper], in snapshot: any StorageSnapshot, _ options: MigrationOptions) throws {
    isChecked = !options.copiesEverything && !options.allowLossy
    // A copy of everything has the list of references among its models.
    if options.copiesEverything { return }
    let models = Dictionary(mappers.map { (StoredName($0.source.name), $0) }) { first, _ in first }
    for reference in try ReferenceLedger.entries(snapshot) {
      guard let mapper = models[StoredName(reference.model)],
        let field = mapper.destinationField(reference.field)
      else { continue }
      let target = models[StoredName(reference.target)]?.destination
      guard let target, target.key.count == 1,
        target.fields[target.keyPositions[0]].kind == mapper.destination.field(named: field)?.kind
      else {
        if reference.isEnded { continue }
        lost.append(
          UnmappedObject(
            .reference, "\(reference.model).\(reference.field)", model: reference.model,
            detail:
              "refers to \(reference.target), which is not copied, or with keys of another kind; the copy does not "
              + "check it"))
        continue
      }
      references.append(
        StoredReference(
          model: mapper.destination.name, field: field, target: target.name, rule: reference.rule,
          formerRules: reference.formerRules, isEnded: reference.isEnded))
    }
    for history in references.isEmpty ? [] : try SchemaLedger.histories(snapshot) {
      let name = StoredName(history.model)
      guard let mapper = models[name], mapper.source == mapper.destination else { continue }
      declarations[name] = history.declarations
    }
  }

  /// Checks the copied records, in the snapshot of a destination.
  ///
  /// A backup keeps what the store holds, and a copy that may lose records may lose some that others refer to.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/brokenReference`` and a record whose target the copy
  ///   lacks.
  func check(_ destination: any StorageContext) throws {
    if !isChecked { return }
    let snapshot = try destination.snapshot()
    // Its own references too: replaced records of the destination may be those that others there refer to.
    let begun = try begun(in: snapshot).filter { !$0.isEnded }
    for reference in try ReferenceLedger.references(snapshot) + begun {
      try snapshot.requireTargets(of: reference, location: destination.location)
    }
  }

  /// Records the references in a destination, which keeps its own rules, and references that it has ended.
  func save(in transaction: any StorageTransaction) throws {
    for reference in try begun(in: transaction) {
      try ReferenceLedger.save(reference, in: transaction)
      guard let met = declarations[StoredName(reference.model)], !met.isEmpty,
        try SchemaLedger.history(of: reference.model, transaction) == nil
      else { continue }
      var history = ModelHistory(model: reference.model)
      history.declarations = met
      try SchemaLedger.write(history, replacing: reference.model, in: transaction)
    }
  }

  /// The references that a destination does not know yet.
  private func begun(in destination: any StorageReader) throws -> [StoredReference] {
    let own = try ReferenceLedger.entries(destination)
    return references.filter { reference in !own.contains { $0.hasField(of: reference) } }
  }
}

extension RecordMapper {
  /// The name of a source's field in the destination; nil if it is dropped.
  fileprivate func destinationField(_ name: String) -> String? {
    guard let position = source.position(of: name) else { return nil }
    if isIdentity { return name }
    return steps.firstIndex { $0.position == position }.map { destination.fields[$0].name }
  }
}
