import PersistenceDriver

/// What a migration copies.
extension Migration {
  /// Selects the models to copy: those that the options name, or all.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the source lacks a named model.
  func chosenModels(of catalog: [ModelSchema]) throws -> [ModelSchema] {
    if options.copiesEverything { return catalog.filter { !Ledger.isOwn($0) } }
    let own = catalog.filter { !$0.isReserved }
    guard let names = options.models else { return own }
    for name in names where !own.contains(where: { StoredName($0.name) == StoredName(name) }) {
      let known = own.map { "“\($0.name)”" }.joined(separator: ", ")
      throw PersistenceError.invalidRequest(
        "the source has no model “\(name)”; its models are \(own.isEmpty ? "none" : known)")
    }
    let chosen = Set(names.map(StoredName.init))
    return own.filter { chosen.contains(StoredName($0.name)) }
  }

  /// Lists the source's unmapped objects; if the options name models, only the objects of those models.
  func unmappedObjects(of snapshot: any StorageSnapshot, besides schemas: [ModelSchema]) throws
    -> [UnmappedObject]
  {
    let unmappedObjects = try snapshot.unmappedObjects()
    guard options.models != nil else { return unmappedObjects }
    let chosen = Set(schemas.map { StoredName($0.name) })
    return unmappedObjects.filter { object in
      object.model.map { chosen.contains(StoredName($0)) } ?? false
    }
  }
}
