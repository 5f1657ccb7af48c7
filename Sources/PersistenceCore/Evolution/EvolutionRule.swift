public import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// A change of a store that the difference between its schema and the declarations cannot show.
///
/// A ``StoreSchema`` lists the rules. Each has an effect on stores of before, and none on others.
public struct EvolutionRule: Sendable {
  enum Effect: Sendable {
    /// A change of a model's declaration.
    case declaration(model: String, @Sendable (inout ModelDeclaration) throws -> Void)
    case removedModel(String, formerNames: [String])
    case step(Step)
  }

  struct Step: Sendable {
    /// The models that the step makes; it runs while the store contains none of them.
    let making: [any PersistentRecord.Type]
    let run: @Sendable (_ old: any PersistentRepository, _ new: any PersistentRepository) throws -> Void
  }

  let effect: Effect

  private init(_ effect: Effect) { self.effect = effect }

  private static func on<Model: PersistentRecord>(
    _ model: Model.Type, _ change: @escaping @Sendable (inout ModelDeclaration) throws -> Void
  ) -> EvolutionRule {
    EvolutionRule(.declaration(model: name(of: model), change))
  }

  private static func name<Model: PersistentRecord>(of model: Model.Type) -> String {
    (try? model.schema.model.name) ?? "\(model)"
  }

  /// Replaces nil in an optional field that has become required.
  ///
  /// - Parameters:
  ///   - property: The property, now required.
  ///   - value: The value of records that have nil.
  /// - Returns: The rule.
  public static func fill<Model: PersistentRecord, Value: PersistentValueConvertible & Sendable>(
    _ property: SendableKeyPath<Model, Value>, with value: Value
  ) -> EvolutionRule {
    on(Model.self) { declaration in
      declaration.replacements[StoredName(try Model.storedName(of: property))] =
        value.persistentValue.normalized
    }
  }

  /// Computes a property from stored fields, for records of before.
  ///
  /// The rule is that for several properties, without their overhead for each record.
  ///
  /// - Parameters:
  ///   - property: The new property.
  ///   - sources: The stored names of the fields that the closure reads, now or before a rename.
  ///   - compute: Returns the property's value; its error ends the opening, and nothing changes.
  /// - Returns: The rule.
  @inlinable
  public static func compute<
    Model: PersistentRecord, Value: PersistentValueConvertible & SendableMetatype
  >(
    _ property: SendableKeyPath<Model, Value>, from sources: String...,
    with compute: @escaping @Sendable (borrowing StoredRecord) throws -> Value
  ) -> EvolutionRule {
    computing([property], from: sources) { try compute($0).write(to: $1, at: 0) }
  }

  /// Computes properties from stored fields, for records of before.
  ///
  /// A source is a stored field, or a property that another rule computes, in any order of the rules. If several rules
  /// compute a property, the first one whose sources exist is used. Sources that no property declares are removed
  /// afterwards.
  ///
  /// - Parameters:
  ///   - properties: The new properties.
  ///   - sources: The stored names of the fields that the closure reads, now or before a rename.
  ///   - compute: Returns the properties' values; its error ends the opening, and nothing changes.
  /// - Returns: The rule.
  @inlinable
  @_disfavoredOverload  // one property is a pack too
  public static func compute<
    Model: PersistentRecord, each Value: PersistentValueConvertible & SendableMetatype
  >(
    _ properties: repeat SendableKeyPath<Model, each Value>, from sources: String...,
    with compute: @escaping @Sendable (borrowing StoredRecord) throws -> (repeat each Value)
  ) -> EvolutionRule {
    var targets: [SendablePartialKeyPath<Model>] = []
    repeat targets.append(each properties)
    return computing(targets, from: sources) { record, values in
      let result = try compute(record)
      var position = 0
      func write(_ value: some PersistentValueConvertible) {
        value.write(to: values, at: position)
        position += 1
      }
      repeat write(each result)
    }
  }

  /// The rule for computations whose closure writes the values of the properties, in order, to a buffer.
  @usableFromInline
  static func computing<Model: PersistentRecord>(
    _ properties: [SendablePartialKeyPath<Model>], from sources: [String],
    with compute: @escaping @Sendable (borrowing StoredRecord, RowBuffer) throws -> Void
  ) -> EvolutionRule {
    let sourceNames = SourceNames(sources)
    return on(Model.self) { declaration in
      let fields = try properties.map { try Model.storedName(of: $0) }
      declaration.computations.append(
        ModelDeclaration.Computation(fields: fields, sources: sources) { row, values in
          defer { withExtendedLifetime(sourceNames) {} }
          try compute(StoredRecord(sources: sourceNames.names, row: row), values)
        })
    }
  }

  /// Removes a field that the model no longer declares.
  ///
  /// The values stay in the store, hidden, until it is compacted. Without the rule, an undeclared field keeps its values
  /// and its name.
  ///
  /// - Parameters:
  ///   - field: The stored name.
  ///   - formerNames: Earlier stored names.
  ///   - model: The model's name.
  /// - Returns: The rule.
  public static func remove(_ field: String, was formerNames: String..., from model: String) -> EvolutionRule
  {
    let names = formerNames
    return EvolutionRule(
      .declaration(model: model) { $0.removedFields.append(.init(field, formerNames: names)) })
  }

  /// Removes a model, with its records, which stay in the store, hidden, until it is compacted.
  ///
  /// - Parameters:
  ///   - model: The model's name.
  ///   - formerNames: Earlier names.
  /// - Returns: The rule.
  public static func remove(model: String, was formerNames: String...) -> EvolutionRule {
    EvolutionRule(.removedModel(model, formerNames: formerNames))
  }

  /// Shows a field again that an earlier release removed, with its values.
  ///
  /// Records that were inserted in the meantime have nil in it, or the zero of its kind: false, 0, or empty text. A store
  /// that does not hide the field, because a release without it made the store, or because it was erased, gets it as a
  /// new field. A release that removes the field and still runs hides it again; the next opening with this rule shows it.
  ///
  /// - Parameters:
  ///   - field: The stored name, which a property declares, now or with `was:`.
  ///   - model: The model's name.
  /// - Returns: The rule.
  public static func restore(_ field: String, from model: String) -> EvolutionRule {
    EvolutionRule(.declaration(model: model) { $0.restoredFields.append(field) })
  }

  /// Shows a model again that an earlier release removed, with its records.
  ///
  /// A store that does not hide the model gets it as a new one. A release that removes the model and still runs hides it
  /// again; the next opening with this rule shows it.
  ///
  /// - Parameter model: The present name of the model, which the schema lists.
  /// - Returns: The rule.
  public static func restore(model: String) -> EvolutionRule {
    EvolutionRule(.declaration(model: model) { $0.isRestored = true })
  }

  /// Removes an index that the model no longer declares.
  ///
  /// Without the rule, the index is kept up to date.
  ///
  /// - Parameters:
  ///   - fields: The stored names of the index's fields, in order.
  ///   - model: The model's name.
  /// - Returns: The rule.
  public static func remove(index fields: String..., of model: String) -> EvolutionRule {
    let fields = fields
    return EvolutionRule(.declaration(model: model) { $0.removedIndexes.append(fields) })
  }

  /// Settles the records of before that refer to absent ones, when a field becomes a reference.
  ///
  /// Without the rule, the opening throws ``PersistenceError/Code/brokenReference`` with the first of them.
  ///
  /// - Parameters:
  ///   - property: The property, now a reference.
  ///   - rule: What happens to these records, as if their targets were deleted now.
  /// - Returns: The rule.
  public static func orphans<Model: PersistentRecord, Value: ReferenceValue>(
    _ property: SendableKeyPath<Model, Value>, _ rule: DeleteRule
  ) -> EvolutionRule {
    on(Model.self) { declaration in
      let field = try Model.storedName(of: property)
      guard rule != .setNil || Value.isPersistentOptional else {
        throw PersistenceError.invalidSchema(
          declaration.schema.name,
          "“\(field)” of an orphan cannot become nil; make it optional, or use .cascade")
      }
      declaration.orphanRules[StoredName(field)] = rule
    }
  }

  /// Ends a reference: the property keeps its keys, and the store no longer checks or follows them.
  ///
  /// Without the rule, the store keeps a reference whose property has become a plain one. Earlier versions of the app,
  /// which declare the reference, do not begin it again.
  ///
  /// - Parameter property: The property, which was a reference and is none now.
  /// - Returns: The rule.
  public static func remove<Model: PersistentRecord, Value: PersistentValueConvertible & SendableMetatype>(
    reference property: SendableKeyPath<Model, Value>
  ) -> EvolutionRule {
    on(Model.self) { declaration in
      let field = try Model.storedName(of: property)
      guard !declaration.references.contains(where: { StoredName($0.field) == StoredName(field) }) else {
        throw PersistenceError.invalidSchema(
          declaration.schema.name,
          "a rule ends the reference “\(field)”, which the model declares; delete the rule, or declare a plain property"
        )
      }
      declaration.endedReferences.append(field)
    }
  }

  /// Makes models from others, as when one is split.
  ///
  /// The step runs before all other changes, in their transaction, if the store contains none of the models that it
  /// makes. It reads the models of before through declarations of its own.
  ///
  /// - Parameters:
  ///   - models: The models that the step makes.
  ///   - run: Reads from the first repository and writes to the second.
  /// - Returns: The rule.
  public static func step(
    making models: any PersistentRecord.Type...,
    run: @escaping @Sendable (_ old: any PersistentRepository, _ new: any PersistentRepository) throws -> Void
  ) -> EvolutionRule {
    EvolutionRule(.step(Step(making: models, run: run)))
  }
}

extension PersistentRecord {
  /// The stored name of a property of the declaration.
  fileprivate static func storedName(of property: PartialKeyPath<Self>) throws -> String {
    guard let name = schema.name(of: property) else {
      throw PersistenceError(.unknownField, "\(property) is not a stored property of \(Self.self)")
    }
    return name
  }
}
