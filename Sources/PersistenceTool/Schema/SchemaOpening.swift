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
    let stored = try ReferenceLedger.references(reader)
    for model in document.models {
      let declaration = try model.declaration
      let references = model.referenceLines(stored)
      let (fit, history) = try SchemaFits.fit(declaration, reader, location: location)
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
        let cost = try change.changesNothing ? .catalog : reader.cost(of: change)
        models.append(
          Model(
            name: model.name, outcome: .changes, cost: "\(cost)", lines: change.lines(cost) + references,
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

extension SchemaDocument.Model {
  /// The references that begin, change or end, one line for each.
  fileprivate func referenceLines(_ stored: [StoredReference]) -> [String] {
    fields.compactMap { field in
      let known = stored.first {
        ([name] + formerNames).containsName($0.model)
          && ([field.schema.name] + field.formerNames).containsName($0.field)
      }
      switch (known, field.reference) {
      case (nil, let now?):
        return
          "+ \(field.schema.name) refers to \(now.target) (\(now.rule.rawValue)); all records are checked"
      case (let before?, let now?) where before.rule != now.rule:
        return
          "* \(field.schema.name) refers to \(now.target): \(before.rule.rawValue) → \(now.rule.rawValue)"
      case (let before?, nil) where field.endsReference:
        return "- \(field.schema.name) refers to \(before.target)"
      default: return nil
      }
    }
  }
}

extension SchemaChange {
  /// The change in words, one line for each field and index.
  fileprivate func lines(_ cost: EvolutionCost) -> [String] {
    var lines: [String] = []
    if StoredName(stored.name) != StoredName(target.name) {
      lines.append("* \(stored.name) → \(target.name)")
    }
    for (field, source) in zip(target.fields, sources) {
      switch source {
      case .field(let position, let replacement):
        let old = stored.fields[position]
        if ModelHistory.isRemoved(field.name) {
          if !ModelHistory.isRemoved(old.name) { lines.append("- \(old), hidden until it is erased") }
        } else if field != old {
          lines.append("* \(old) → \(field)" + (replacement.map { ", \($0) for nil" } ?? ""))
        }
      case .fill(let value): lines.append("+ \(field), fill \(value)")
      case .computed: lines.append("+ \(field), computed by the app")
      }
    }
    let origins = indexOrigins
    for (position, index) in stored.indexes.enumerated() where !origins.contains(position) {
      lines.append("- index \(index)")
    }
    for (index, origin) in zip(target.indexes, origins) where origin == nil {
      let waits = cost < .rewrite && mayDefer(index)
      lines.append("+ index \(index)" + (waits ? ", which finishIndexes() builds" : ""))
    }
    return lines.isEmpty ? ["* the names of before that the store remembers"] : lines
  }
}
