import PersistenceDriver
import PersistencePrimitives

extension SchemaDocument {
  /// One difference between two documents.
  package struct Difference: Sendable, Hashable, Encodable {
    package enum Sign: String, Sendable, Encodable {
      case removed = "-"
      case added = "+"
      case changed = "*"
    }

    package var sign: Sign
    package var model: String
    /// The difference in one line, which begins with the names.
    package var text: String
  }

  /// The differences from another document, sorted by model.
  ///
  /// Former names identify models and fields.
  ///
  /// - Parameters:
  ///   - old: The document to compare with.
  ///   - includesWords: Whether former names, fills and removals count; otherwise only fills that both documents
  ///     contain count.
  /// - Returns: The differences; empty if there are none.
  package func differences(from old: SchemaDocument, includesWords: Bool = false) -> [Difference] {
    var differences: [Difference] = []
    for model in old.models where counterpart(of: model, in: old) == nil {
      differences.append(.init(sign: .removed, model: model.name, text: model.summary))
    }
    for model in models {
      guard let other = old.models.first(where: { counterpart(of: $0, in: old)?.name == model.name }) else {
        differences.append(.init(sign: .added, model: model.name, text: model.summary))
        continue
      }
      differences += model.differences(from: other, includesWords: includesWords)
    }
    if includesWords, removedModels != old.removedModels {
      func list(_ removals: [Removal]) -> String { removals.map(\.description).joined(separator: ", ") }
      differences.append(
        .init(
          sign: .changed, model: "",
          text: "removed models: (\(list(old.removedModels))) → (\(list(removedModels)))"))
    }
    return differences
  }

  /// The model that an earlier or later document's model is here.
  private func counterpart(of model: Model, in other: SchemaDocument) -> Model? {
    if let found = self.model(model.name) { return found }
    return model.formerNames.lazy.compactMap { self.model($0) }.first { found in
      !other.models.contains { [$0.name].containsName(found.name) }
    }
  }
}

extension SchemaDocument.Model {
  fileprivate var summary: String { (try? declaration.schema.description) ?? name }

  fileprivate func differences(from old: Self, includesWords: Bool) -> [SchemaDocument.Difference] {
    var differences: [SchemaDocument.Difference] = []
    func add(_ sign: SchemaDocument.Difference.Sign, _ text: String) {
      differences.append(.init(sign: sign, model: name, text: text))
    }
    func change(_ what: String, _ before: String, _ now: String) {
      if StoredName(before) != StoredName(now) { add(.changed, "\(what): \(before) → \(now)") }
    }
    if StoredName(name) != StoredName(old.name) { add(.changed, "\(old.name) → \(name)") }
    var known: [String: String] = [:]
    for field in old.fields {
      if let now = counterpart(of: field, in: old) {
        known[now.schema.name] = field.schema.name
        let words = includesWords ? (field.words, now.words) : now.fillWords(beside: field)
        if field.schema != now.schema || words.0 != words.1 {
          add(.changed, "\(name).\(field.schema)\(words.0) → \(now.schema)\(words.1)")
        }
      } else {
        add(.removed, "\(name).\(field.schema)")
      }
    }
    for field in fields where known[field.schema.name] == nil {
      add(
        .added,
        "\(name).\(field.schema)" + (includesWords ? field.words : field.referenceText + field.fillText))
    }
    let renamed = Dictionary(known.map { ($0.value, $0.key) }) { first, _ in first }
    change("\(name), key", old.key.map { renamed[$0] ?? $0 }.inParentheses, key.inParentheses)
    let before = old.indexes.map { IndexSchema($0.fields.map { renamed[$0] ?? $0 }, isUnique: $0.isUnique) }
    for index in before where !indexes.contains(index) { add(.removed, "\(name), index \(index)") }
    for index in indexes where !before.contains(index) { add(.added, "\(name), index \(index)") }
    guard includesWords else { return differences }
    change("\(name), former names", old.formerNames.inParentheses, formerNames.inParentheses)
    change(
      "\(name), removed fields", old.removedFields.map(\.description).inParentheses,
      removedFields.map(\.description).inParentheses)
    change(
      "\(name), removed indexes", old.removedIndexes.map(\.inParentheses).inParentheses,
      removedIndexes.map(\.inParentheses).inParentheses)
    change("\(name), computed", old.computationText, computationText)
    change(
      "\(name), restored fields", old.restoredFields.inParentheses, restoredFields.inParentheses)
    if isRestored != old.isRestored { add(.changed, "\(name), restored: \(old.isRestored) → \(isRestored)") }
    return differences
  }

  private func counterpart(of field: SchemaDocument.Field, in other: Self) -> SchemaDocument.Field? {
    if let found = self.field(field.schema.name) { return found }
    return field.formerNames.lazy.compactMap { self.field($0) }.first { found in
      !other.fields.contains { [$0.schema.name].containsName(found.schema.name) }
    }
  }

  private var computationText: String {
    computations.map { "\($0.fields.joined(separator: ", ")) from \($0.from.joined(separator: ", "))" }
      .inParentheses
  }
}

extension SchemaDocument.Removal: CustomStringConvertible {
  package var description: String {
    name + (formerNames.isEmpty ? "" : ", formerly \(formerNames.joined(separator: ", "))")
  }
}

extension SchemaDocument.Field {
  fileprivate var fillText: String { fill.map { ", fill \($0)" } ?? "" }

  fileprivate var referenceText: String {
    reference.map { ", refers to \($0.target) (\($0.rule.rawValue))" } ?? ""
  }

  /// What the code says of the field's past.
  package var words: String {
    referenceText + (formerNames.isEmpty ? "" : ", formerly \(formerNames.joined(separator: ", "))")
      + fillText
      + (replacement.map { ", \($0) for nil" } ?? "")
      + (reference?.orphans.map { ", orphans: \($0.rawValue)" } ?? "")
      + (endsReference ? ", a reference no more" : "")
  }

  fileprivate func fillWords(beside old: Self) -> (String, String) {
    let fills = fill != nil && old.fill != nil ? (old.fillText, fillText) : ("", "")
    return (old.referenceText + fills.0, referenceText + fills.1)
  }
}

extension [String] {
  fileprivate var inParentheses: String { "(\(joined(separator: ", ")))" }
}

extension SchemaDocument {
  /// What these declarations have lost since a release without saying so, with the words to add.
  ///
  /// - Parameters:
  ///   - released: The declarations of the release.
  ///   - releases: All releases, for the names that a lost thing had later.
  /// - Returns: One sentence for each loss and each changed fill.
  package func losses(since released: SchemaDocument, among releases: [SchemaDocument]) -> [String] {
    released.models.flatMap { model -> [String] in
      if let now = self.model(model.name) { return now.losses(since: model, among: releases) }
      if removedModels.contains(where: { $0.contains(model.name) }) { return [] }
      let later = releases.lazy.flatMap(\.models).first { later in
        later.formerNames.containsName(model.name) && removedModels.contains { $0.contains(later.name) }
      }
      let word =
        later.map { ".remove(model: \"\($0.name)\", was: \"\(model.name)\")" }
        ?? ".remove(model: \"\(model.name)\")"
      return [
        "\(model.name): not declared any more; if a model has it under another name, write was: \"\(model.name)\" "
          + "there; if not, add \(word), or declare the model"
      ]
    }
  }
}

extension SchemaDocument.Model {
  fileprivate func losses(since released: Self, among releases: [SchemaDocument]) -> [String] {
    // The same model in all releases.
    let versions = releases.compactMap { release in
      release.models.first { ([name] + formerNames).containsName($0.name) }
    }
    func isGone(_ name: String) -> Bool {
      removedFields.contains { $0.contains(name) } || computations.contains { $0.from.containsName(name) }
    }
    var losses: [String] = []
    for field in released.fields {
      let old = field.schema.name
      if let now = self.field(old) {
        if let change = changedFill(of: now, since: field, versions) { losses.append(change) }
        if let change = changedReference(of: now, since: field) { losses.append(change) }
      } else if !isGone(old) {
        let later = versions.lazy.flatMap(\.fields).first {
          $0.formerNames.containsName(old) && isGone($0.schema.name)
        }
        let word =
          later.map { ".remove(\"\($0.schema.name)\", was: \"\(old)\", from: \"\(name)\")" }
          ?? ".remove(\"\(old)\", from: \"\(name)\")"
        losses.append(
          "\(name).\(old): not declared any more; if a property has it under another name, write was: \"\(old)\" "
            + "there; if one is computed from it, name it in .compute(from:); if not, add \(word), or declare the "
            + "property")
      }
    }
    for index in released.indexes where !index.fields.contains(where: isGone) {
      let fields = index.fields.map { self.field($0)?.schema.name ?? $0 }
      guard !(indexes.map(\.fields) + removedIndexes).contains(where: { $0.isSameNames(fields) }) else {
        continue
      }
      let list = fields.map { "\"\($0)\"" }.joined(separator: ", ")
      losses.append(
        "\(name), index \(index): not declared any more; add .remove(index: \(list), of: \"\(name)\"), or declare "
          + "the index")
    }
    return losses
  }

  /// A reference that begins or ends without a word.
  private func changedReference(
    of field: SchemaDocument.Field, since released: SchemaDocument.Field
  ) -> String? {
    let name = field.schema.name
    switch (released.reference, field.reference) {
    case (let before?, nil) where !field.endsReference:
      return
        "\(self.name).\(name): referred to \(before.target), and is a plain field; stores go on checking it; "
        + "add .remove(reference:), or declare the reference"
    case (nil, let now?) where now.orphans == nil:
      return
        "\(self.name).\(name): refers to \(now.target) now; a record whose target is absent prevents the opening; "
        + "add .orphans(…, .cascade) or .setNil for such records, or .restrict if there are none"
    default: return nil
    }
  }

  /// A fill that differs from a release's, by which stores of the same records would differ (contract S2).
  private func changedFill(
    of field: SchemaDocument.Field, since released: SchemaDocument.Field, _ versions: [Self]
  ) -> String? {
    let name = field.schema.name
    guard let before = released.fill ?? (released.schema.isOptional ? .null : nil) else { return nil }
    let now = field.fill ?? .null
    // Nil has filled nothing if every release contains the field.
    if before == now || (before.isNull && versions.allSatisfy { $0.field(released.schema.name) != nil }) {
      return nil
    }
    return "\(self.name).\(name): the fill was \(before) and is \(now); a fill never changes; keep it with "
      + "@Field(fill:)"
  }
}

extension [String] {
  fileprivate func isSameNames(_ other: [String]) -> Bool {
    map(StoredName.init) == other.map(StoredName.init)
  }
}
