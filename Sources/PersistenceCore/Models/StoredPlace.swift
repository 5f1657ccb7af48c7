import PersistenceDriver
import Synchronization

/// The place in a record to which a key path leads.
enum StoredPlace: Sendable, Hashable {
  /// A field.
  case field(String)
  /// A part of the JSON of a field, at a path of member names.
  case part(field: String, path: [String])
}

/// A field whose values are documents.
struct DocumentField: @unchecked Sendable {  // the key path of a stored property captures nothing
  let name: String
  let keyPath: AnyKeyPath
  let type: any Decodable.Type
}

/// The places inside documents for which conditions have asked.
struct KnownPlaces: @unchecked Sendable {  // key paths of stored properties capture nothing
  var places: [AnyKeyPath: StoredPlace] = [:]
}

extension RecordSchema.Storage {
  /// The place to which a key path leads that is not a field's own.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` if it leads through a computed
  ///   property, or out of the stored JSON.
  func place(inside keyPath: AnyKeyPath) throws -> StoredPlace {
    if let place = known.withLock({ $0.places[keyPath] }) { return place }
    let components = KeyPathComponents(keyPath)
    func size<Value>(_ type: Value.Type) -> Int { MemoryLayout<Value>.size }
    guard _openExistential(type(of: keyPath).valueType, do: size) > 0 else {
      // Its name is that of another property: properties without content have no place of their own in memory.
      throw PersistenceError(
        .unknownField,
        "no store can evaluate a condition on a property of type \(type(of: keyPath).valueType), which has one value",
        model: model)
    }
    for document in documents {
      guard let names = components.names(behind: KeyPathComponents(document.keyPath)) else { continue }
      let path = try path(names, in: document)
      let place = StoredPlace.part(field: document.name, path: path)
      known.withLock { $0.places[keyPath] = place }
      return place
    }
    throw refusal(components)
  }

  private func path(_ names: [String], in document: DocumentField) throws -> [String] {
    var path: [String] = []
    var type: (any Decodable.Type)? = document.type
    for name in names {
      do {
        guard !KeyPathComponents.isComputed(name) else {
          throw DocumentMembers.Refusal(reason: "\(name) is computed, and not in the JSON")
        }
        guard let parent = type else {
          throw DocumentMembers.Refusal(reason: "the type around “\(name)” is unknown")
        }
        let member = try DocumentMembers.member(name, of: parent)
        path.append(member.name)
        type = member.type
      } catch let refusal as DocumentMembers.Refusal {
        throw PersistenceError(
          .unknownField,
          "no store can evaluate \\.\(document.name).\(names.joined(separator: ".")): \(refusal.reason); compare "
            + "“\(document.name)” as a whole, or store the value in a property of its own",
          model: model, field: document.name)
      }
    }
    return path
  }

  /// Why a key path that leads into no document cannot be evaluated.
  private func refusal(_ components: KeyPathComponents) -> PersistenceError {
    let path = "\\.\(components.text)"
    for (keyPath, field) in names where components.names(behind: KeyPathComponents(keyPath)) != nil {
      return PersistenceError(
        .unknownField,
        "no store can evaluate \(path): “\(field)” of \(model) is stored as one value; compare “\(field)” itself, or "
          + "store the value in a property of its own", model: model, field: field)
    }
    return PersistenceError(
      .unknownField,
      "no store can evaluate \(path), which is not a stored property of \(model), or a part of one that has no "
        + "observers; its stored properties are " + names.values.sorted().joined(separator: ", "),
      model: model, field: components.names.first)
  }

  /// A text for a key path that is not a field's own, with the stored name of the field that it leads through.
  func text(of keyPath: AnyKeyPath) -> String {
    let components = KeyPathComponents(keyPath)
    for (known, field) in names {
      if let rest = components.names(behind: KeyPathComponents(known)) {
        return ([field] + rest).joined(separator: ".")
      }
    }
    return components.text
  }
}

extension PersistentRecord {
  /// The place to which a key path leads that is not a field's own.
  static func place(inside keyPath: AnyKeyPath) throws -> StoredPlace {
    try schema.storage.place(inside: keyPath)
  }

  /// The text of ``RecordSchema/Storage/text(of:)``.
  static func text(of keyPath: AnyKeyPath) -> String { schema.storage.text(of: keyPath) }

  /// The kind of a field; nil if there is no such field.
  static func kind(ofField name: String) -> FieldKind? { (try? schema.model)?.field(named: name)?.kind }
}

extension PersistentFields {
  /// The record type of the model; nil for a model of another framework.
  private static var record: (any PersistentRecord.Type)? { Self.self as? any PersistentRecord.Type }

  /// The stored name of a key path, or a text that is not a field's name, so that using it throws
  /// `unknownField`.
  @usableFromInline
  static func name(of keyPath: AnyKeyPath) -> String {
    fieldName(for: keyPath) ?? record?.text(of: keyPath) ?? KeyPathComponents(keyPath).text
  }

  /// The place to which a key path leads.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField``.
  static func place(of keyPath: AnyKeyPath) throws -> StoredPlace {
    if let name = fieldName(for: keyPath) { return .field(name) }
    guard let record else { return .field(name(of: keyPath)) }
    return try record.place(inside: keyPath)
  }

  /// The stored form of a value of a `Codable` type: its raw value or its document, as the field's kind demands.
  static func storedForm(of value: some Encodable, in field: String) throws -> PersistentValue {
    if record?.kind(ofField: field) != .document, let raw = rawValue(of: value) { return raw }
    return try DocumentCoding.encode(value).map { PersistentValue.document($0) } ?? .null
  }

  private static func rawValue(of value: Any) -> PersistentValue? {
    if let optional = value as? any OptionalValue, optional.isNil { return .null }
    guard let value = value as? any RawRepresentable else { return nil }
    return (value.rawValue as? any PersistentValueConvertible)?.persistentValue
  }
}
