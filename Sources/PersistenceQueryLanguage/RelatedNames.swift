package import PersistenceDriver
package import PersistenceDriverSupport

/// Names of references and of fields of related records, as users type them: `studio.name`.
package enum RelatedNames {
  /// The criteria of a list such as `studio.name,-title`.
  ///
  /// - Parameters:
  ///   - names: The names, and whether each is descending.
  ///   - schema: The model that is sorted.
  ///   - relations: The references of the store.
  /// - Returns: The criteria; a name that is neither a field nor a path of a reference is one of an unknown field.
  /// - Throws: ``PersistenceError`` if the store cannot be read.
  package static func order(
    _ names: [(name: String, isDescending: Bool)], of schema: ModelSchema, _ relations: StoredRelations
  ) throws -> [RelatedOrder.Criterion] {
    try names.map { name, isDescending in
      if schema.field(named: name) == nil,
        let (reference, target, rest) = try first(name, of: schema, relations),
        let rest
      {
        return RelatedOrder.Criterion(
          RelatedField(reference, model: target.name, field: rest), isDescending: isDescending)
      }
      return RelatedOrder.Criterion(FieldOrder(name, isDescending: isDescending))
    }
  }

  /// The inclusions of a list such as `studio,studio.owner`; each path includes all records on its way.
  ///
  /// - Parameters:
  ///   - text: The paths, separated by commas.
  ///   - schema: The model of the records that others are included with.
  ///   - relations: The references of the store.
  ///   - depthLimit: The most references of a path.
  /// - Returns: The inclusions, each reference once.
  /// - Throws: ``FieldListError`` if the list is malformed, a part is not a reference or a path has too many, and
  ///   ``PersistenceError`` if the store cannot be read.
  package static func inclusions(
    _ text: String, of schema: ModelSchema, _ relations: StoredRelations, depthLimit: Int = 32
  ) throws -> [RelatedInclusion] {
    var inclusions: [RelatedInclusion] = []
    for (path, isDescending) in try FieldNames.list(text) {
      if isDescending { throw FieldListError(message: "it has no order; omit the minus before “\(path)”") }
      try add(path, of: schema, relations, depthLimit, to: &inclusions)
    }
    return inclusions
  }

  private static func add(
    _ path: String, of schema: ModelSchema, _ relations: StoredRelations, _ depthLimit: Int,
    to inclusions: inout [RelatedInclusion]
  ) throws {
    guard depthLimit > 0 else {
      throw FieldListError(message: "a path has too many references; include fewer levels")
    }
    guard let (reference, target, rest) = try first(path, of: schema, relations) else {
      throw FieldListError(message: "“\(path)” is not a reference of \(schema.name)")
    }
    let index: Int
    if let known = inclusions.firstIndex(where: { $0.field == reference }) {
      index = known
    } else {
      index = inclusions.count
      inclusions.append(RelatedInclusion(.target, field: reference, model: target.name))
    }
    guard let rest else { return }
    try add(rest, of: target, relations, depthLimit - 1, to: &inclusions[index].nested)
  }

  /// The first reference of a path, its target, and the rest of the path; names may contain points.
  ///
  /// - Complexity: Linear in the length of the path and the number of fields: clients send paths of any length.
  private static func first(_ path: String, of schema: ModelSchema, _ relations: StoredRelations) throws
    -> (reference: String, target: ModelSchema, rest: String?)?
  {
    let bytes = path.utf8
    let fields = schema.fields.filter { bytes.starts(with: $0.name.utf8) }
    for field in fields.sorted(by: { $0.name.utf8.count < $1.name.utf8.count }) {
      let tail = bytes.dropFirst(field.name.utf8.count)
      guard tail.isEmpty || tail.first == UInt8(ascii: "."),
        let target = try relations.target(of: field.name, in: schema.name)
      else { continue }
      return (field.name, target, tail.isEmpty ? nil : String(Substring(tail.dropFirst())))
    }
    return nil
  }
}
