import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// What an opening by code with certain declarations does to each model of a store.
struct SchemaOpening: Encodable {
  enum Outcome: String, Encodable {
    /// The schemas are equal.
    case same
    /// The code uses the store as it is.
    case reads
    /// The store gets the model.
    case new
    /// The model changes.
    case changes
    /// The model is hidden.
    case removed
    /// The code cannot open the store.
    case refused
  }

  struct Model: Encodable {
    var name: String
    var outcome: Outcome
    /// The cost of the change: `catalog`, `indexes` or `rewrite`.
    var cost: String?
    /// The changes, or the differences that need a word.
    var lines: [String] = []
    /// Whether the app's code is needed, because it computes values.
    var needsCode = false
  }

  var models: [Model] = []

  var isRefused: Bool { models.contains { $0.outcome == .refused } }
  var needsCode: Bool { models.contains(where: \.needsCode) }

  init() {}

  init(_ document: SchemaDocument, _ reader: any StorageReader, location: String) throws {
    let stored = try ReferenceLedger.entries(reader)
    for model in document.models {
      let declaration = try model.declaration
      let (fit, history) = try SchemaFits.fit(declaration, reader, location: location)
      var after = fit
      if case .evolves(let plan) = fit {
        after = try SchemaComparison.fit(declaration, stored: plan.change.target, history: plan.history)
      }
      let (references, broken) = try document.references(
        of: model, after, stored, reader, location: location)
      switch fit {
      case .absent:
        models.append(Model(name: model.name, outcome: .new, lines: [declaration.schema.description]))
      case .same, .mapped:
        let isSame = if case .same = fit { true } else { false }
        // Only a store of this version gets the references of this version.
        let changes = fit.isCurrent && !references.isEmpty
        models.append(
          Model(
            name: model.name, outcome: changes ? .changes : isSame ? .same : .reads,
            cost: changes ? "\(EvolutionCost.catalog)" : nil, lines: changes ? references : []))
      case .evolves(let plan):
        var change = plan.change
        change.defersIndexes = try reader.isLarge(change.stored)
        let cost = try change.changesNothing ? .catalog : reader.costUnderAnyName(of: change)
        models.append(
          Model(
            name: model.name, outcome: .changes, cost: "\(cost)",
            lines: change.lines(cost) + change.undeclaredLines(model) + references,
            needsCode: change.compute != nil && cost > .catalog))
      case .refused(let differences):
        let error = PersistenceError.schemaMismatch(
          differences, declaration.schema, history, location: location)
        let newer = "a newer version of the app has changed the store; install that version"
        models.append(
          Model(
            name: model.name, outcome: .refused,
            lines: (error.code == .newerStore ? [newer] : []) + differences.map(\.description)))
      }
      let evolves = if case .evolves = fit { true } else { false }
      if !broken.isEmpty, evolves || fit.isCurrent {
        models[models.count - 1].outcome = .refused
        models[models.count - 1].lines += broken
      }
    }
    for model in document.removedModels
    where try SchemaFits.isRemovalNeeded(model.name, formerNames: model.formerNames, reader) {
      models.append(Model(name: model.name, outcome: .removed, cost: "\(EvolutionCost.catalog)"))
    }
  }

  func print(_ output: ByteOutput) throws {
    for model in models {
      let (sign, words) =
        switch model.outcome {
        case .same: ("=", "same")
        case .reads: ("=", "used as it is")
        case .new: ("+", "new")
        case .changes: ("*", Self.words(model.cost))
        case .removed: ("-", "removed, hidden until it is erased")
        case .refused: ("!", "refused")
        }
      try output.line("\(sign) \(TerminalText.safe(model.name)): \(words)")
      for line in model.lines { try output.line("    \(TerminalText.safe(line))") }
    }
  }

  private static func words(_ cost: String?) -> String {
    switch cost {
    case "indexes": "builds indexes from all records"
    case "rewrite": "rewrites all records"
    default: "changes only the catalog"
    }
  }
}

extension SchemaDocument {
  /// The references of a model that begin, change or end, one line for each, and what prevents them from beginning.
  ///
  /// `fit` is what the declaration needs after the opening.
  fileprivate func references(
    of model: Model, _ fit: SchemaFit, _ stored: [StoredReference], _ reader: any StorageReader,
    location: String
  ) throws -> (lines: [String], broken: [String]) {
    var (lines, broken): ([String], [String]) = ([], [])
    for field in model.fields {
      let names = [field.schema.name] + field.formerNames
      let entries = stored.filter {
        ([model.name] + model.formerNames).containsName($0.model) && names.containsName($0.field)
      }
      let known = entries.first { !$0.isEnded }
      guard let now = field.reference else {
        if let known, field.endsReference, fit.isCurrent {
          lines.append("- \(field.schema.name) refers to \(known.target)")
        }
        continue
      }
      let target = self.model(now.target)
      let there = try target.flatMap { try reader.storedName(of: $0, location: location) }
      // A later version may have renamed the target.
      let targets = [now.target] + (target?.formerNames ?? []) + [there].compactMap(\.self)
      let same = entries.filter { targets.containsName($0.target) }
      let stays = same.contains { entry in
        var declared = entry
        declared.rule = now.rule
        return entry.stays(as: declared, replacesRules: fit.isNewest)
      }
      if stays { continue }
      if let known, same.contains(known) {
        lines.append(
          "* \(field.schema.name) refers to \(now.target): \(known.rule.rawValue) → \(now.rule.rawValue)")
        continue
      }
      let former = known.map { "* \(field.schema.name) refers to \($0.target) → " }
      lines.append(
        (former ?? "+ \(field.schema.name) refers to ")
          + "\(now.target) (\(now.rule.rawValue)); all records are checked")
      guard now.orphans == nil,
        let schema = try reader.storedSchema(named: [model.name] + model.formerNames),
        let place = names.first(where: { schema.position(of: $0) != nil })
      else { continue }
      let begun = StoredReference(
        model: schema.name, field: place, target: there ?? now.target, rule: now.rule)
      let error = try reader.error(
        ofBeginning: begun, formerTarget: known?.target, location: location)
      if let error { broken.append(error.message) }
    }
    return (lines, broken)
  }
}

extension StorageReader {
  /// The name under which the store contains a declared model; nil if it does not.
  fileprivate func storedName(of model: SchemaDocument.Model, location: String) throws -> String? {
    switch try SchemaFits.fit(model.declaration, self, location: location).fit {
    case .same: model.name
    case .mapped(let mapping): mapping.stored.name
    case .evolves(let plan): plan.change.stored.name
    case .absent: nil
    case .refused: try storedSchema(named: [model.name] + model.formerNames)?.name
    }
  }

  /// The schema of the first of some names that the store contains.
  fileprivate func storedSchema(named names: [String]) throws -> ModelSchema? {
    for name in names {
      if let schema = try schema(named: name), !schema.isPlaceholder { return schema }
    }
    return nil
  }
}

extension SchemaChange {
  /// The stored fields that a model does not declare, if it adds some that may be theirs under other names.
  fileprivate func undeclaredLines(_ model: SchemaDocument.Model) -> [String] {
    let added = zip(target.fields, sources).filter { if case .fill = $1 { true } else { false } }.map(\.0)
    let kept = Set(
      zip(target.fields, sources).compactMap { field, source -> Int? in
        guard case .field(let position, _) = source, model.field(field.name) == nil else { return nil }
        return ModelHistory.isRemoved(field.name) ? nil : position
      })
    return kept.sorted().map { stored.fields[$0] }.filter { field in
      added.contains { $0.kind.includes(field.kind) }
    }.map {
      "? \($0): kept, and not declared; if a new field has its values, write was: \"\($0.name)\" there"
    }
  }

  /// The change in words, one line for each field and index.
  fileprivate func lines(_ cost: EvolutionCost) -> [String] {
    var lines: [String] = []
    if StoredName(stored.name) != StoredName(target.name) {
      lines.append(
        ModelHistory.isRemoved(stored.name)
          ? "+ \(target.name), shown again" : "* \(stored.name) → \(target.name)")
    }
    for (field, source) in zip(target.fields, sources) {
      switch source {
      case .field(let position, let replacement):
        let old = stored.fields[position]
        if ModelHistory.isRemoved(old.name), !ModelHistory.isRemoved(field.name) {
          lines.append("+ \(field), shown again")
        } else if ModelHistory.isRemoved(field.name) {
          if !ModelHistory.isRemoved(old.name) { lines.append("- \(old), hidden until it is erased") }
        } else if field != old {
          lines.append("* \(old) → \(field)" + (replacement.map { ", \($0) for nil" } ?? ""))
        }
      case .fill(let value): lines.append("+ \(field), fill \(value)")
      case .computed: lines.append("+ \(field), computed by the app")
      }
    }
    let origins = indexOrigins
    for (position, index) in stored.indexes.enumerated()
    where !origins.contains(position) && !target.indexes.contains(index) {
      lines.append("- index \(index)")
    }
    for (index, origin) in zip(target.indexes, origins) where origin == nil {
      if stored.indexes.contains(index) {
        lines.append("* index \(index), rebuilt")
        continue
      }
      let waits = cost < .rewrite && mayDefer(index)
      lines.append("+ index \(index)" + (waits ? ", which finishIndexes() builds" : ""))
    }
    return lines.isEmpty ? ["* the names of before that the store remembers"] : lines
  }
}
