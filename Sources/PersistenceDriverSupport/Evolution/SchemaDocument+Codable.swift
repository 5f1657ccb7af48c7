import PersistenceDriver

// Empty lists are left out, so that the files remain short, and alike on all platforms.
extension SchemaDocument: Codable {
  private enum CodingKeys: String, CodingKey { case models, removed }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      models: try container.decode([Model].self, forKey: .models),
      removedModels: try container.list(forKey: .removed))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(models, forKey: .models)
    try container.encode(unlessEmpty: removedModels, forKey: .removed)
  }
}

extension SchemaDocument.Model: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, was, fields, key, indexes, computed, removed, removedIndexes, restored, isRestored
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      formerNames: try container.list(forKey: .was),
      fields: try container.decode([SchemaDocument.Field].self, forKey: .fields),
      key: try container.decode([String].self, forKey: .key),
      indexes: try container.list(forKey: .indexes),
      computations: try container.list(forKey: .computed),
      removedFields: try container.list(forKey: .removed),
      removedIndexes: try container.list(forKey: .removedIndexes),
      restoredFields: try container.list(forKey: .restored),
      isRestored: try container.decodeIfPresent(Bool.self, forKey: .isRestored) ?? false)
    _ = try declaration  // the schema is valid
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(unlessEmpty: formerNames, forKey: .was)
    try container.encode(fields, forKey: .fields)
    try container.encode(key, forKey: .key)
    try container.encode(unlessEmpty: indexes, forKey: .indexes)
    try container.encode(unlessEmpty: computations, forKey: .computed)
    try container.encode(unlessEmpty: removedFields, forKey: .removed)
    try container.encode(unlessEmpty: removedIndexes, forKey: .removedIndexes)
    try container.encode(unlessEmpty: restoredFields, forKey: .restored)
    if isRestored { try container.encode(true, forKey: .isRestored) }
  }
}

extension SchemaDocument.Field: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, kind, was, fill, replacesNil, refersTo, onDelete, orphans, endsReference
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let text = try container.decode(String.self, forKey: .kind)
    guard let kind = FieldKind(rawValue: text.last == "?" ? String(text.dropLast()) : text) else {
      throw DecodingError.dataCorruptedError(
        forKey: .kind, in: container, debugDescription: "the kind “\(text)” is unknown")
    }
    let reference = try container.decodeIfPresent(String.self, forKey: .refersTo).map { target in
      SchemaDocument.Reference(
        target: target, rule: try container.decodeIfPresent(DeleteRule.self, forKey: .onDelete) ?? .restrict,
        orphans: try container.decodeIfPresent(DeleteRule.self, forKey: .orphans))
    }
    self.init(
      schema: FieldSchema(
        try container.decode(String.self, forKey: .name), kind, isOptional: text.last == "?"),
      formerNames: try container.list(forKey: .was),
      fill: try container.decodeIfPresent(PersistentValue.self, forKey: .fill),
      replacement: try container.decodeIfPresent(PersistentValue.self, forKey: .replacesNil),
      reference: reference,
      endsReference: try container.decodeIfPresent(Bool.self, forKey: .endsReference) ?? false)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(schema.name, forKey: .name)
    try container.encode(schema.kind.rawValue + (schema.isOptional ? "?" : ""), forKey: .kind)
    try container.encode(unlessEmpty: formerNames, forKey: .was)
    try container.encodeIfPresent(fill, forKey: .fill)
    try container.encodeIfPresent(replacement, forKey: .replacesNil)
    try container.encodeIfPresent(reference?.target, forKey: .refersTo)
    try container.encodeIfPresent(reference?.rule, forKey: .onDelete)
    try container.encodeIfPresent(reference?.orphans, forKey: .orphans)
    if endsReference { try container.encode(true, forKey: .endsReference) }
  }
}

extension SchemaDocument.Removal: Codable {
  private enum CodingKeys: String, CodingKey { case name, was }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try container.decode(String.self, forKey: .name), formerNames: try container.list(forKey: .was))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(unlessEmpty: formerNames, forKey: .was)
  }
}

extension KeyedDecodingContainer {
  fileprivate func list<Element: Decodable>(forKey key: Key) throws -> [Element] {
    try decodeIfPresent([Element].self, forKey: key) ?? []
  }
}

extension KeyedEncodingContainer {
  fileprivate mutating func encode<Element: Encodable>(unlessEmpty list: [Element], forKey key: Key) throws {
    if !list.isEmpty { try encode(list, forKey: key) }
  }
}
