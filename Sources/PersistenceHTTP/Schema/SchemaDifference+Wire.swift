package import PersistenceDriver
package import PersistencePrimitives

extension SchemaDifference {
  /// The difference as JSON, with its words for clients that do not know its kind.
  package var json: JSONValue {
    var members = [
      JSONMember("model", .string(model)), JSONMember("kind", .string(wireKind)),
      JSONMember("words", .string(description)),
    ]
    if let field { members.append(JSONMember("field", .object(field.wireMembers))) }
    switch kind {
    case .kind(let stored): members.append(JSONMember("stored", .object(stored.wireMembers)))
    case .renamed(let name), .source(let name): members.append(JSONMember("name", .string(name)))
    case .key(let names): members.append(JSONMember("key", .array(names.map { .string($0) })))
    case .cost(let cost): members.append(JSONMember("cost", .string(cost.wireName)))
    case .missing, .optional, .required, .removed: break
    }
    return .object(members)
  }

  /// Reads a difference; nil if a newer server sent a kind that this version does not know.
  package init?(_ json: JSONValue) {
    func text(_ name: String) -> String? {
      if case .string(let text)? = json.member(name) { text } else { nil }
    }
    guard let model = text("model"), let word = text("kind") else { return nil }
    let kind: Kind
    switch word {
    case "missing": kind = .missing
    case "optional": kind = .optional
    case "required": kind = .required
    case "removed": kind = .removed
    case "kind":
      guard let stored = json.member("stored").flatMap(FieldSchema.init(wire:)) else { return nil }
      kind = .kind(stored)
    case "renamed":
      guard let name = text("name") else { return nil }
      kind = .renamed(name)
    case "source":
      guard let name = text("name") else { return nil }
      kind = .source(name)
    case "key":
      guard let names = try? json.member("key")?.elements().map({ try $0.text() }) else { return nil }
      kind = .key(names)
    case "cost":
      guard let cost = text("cost").flatMap(EvolutionCost.init(wireName:)) else { return nil }
      kind = .cost(cost)
    default: return nil
    }
    self.init(model: model, field: json.member("field").flatMap(FieldSchema.init(wire:)), kind)
  }

  private var wireKind: String {
    switch kind {
    case .missing: "missing"
    case .optional: "optional"
    case .required: "required"
    case .kind: "kind"
    case .renamed: "renamed"
    case .removed: "removed"
    case .source: "source"
    case .key: "key"
    case .cost: "cost"
    }
  }
}
