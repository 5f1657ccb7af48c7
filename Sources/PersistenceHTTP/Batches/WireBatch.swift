package import Foundation
package import PersistenceDriver
import PersistencePrimitives

/// Several changes in one request: the server applies them in one transaction, once per id.
///
/// ```json
/// {"id": "6BA7B810-…", "changes": [{"model": "Movie", "insert": {…}}, {"model": "Movie", "update": {…}, "ifMatch": "\"…\""},
///                                {"model": "Movie", "save": {…}}, {"model": "Movie", "delete": {"id": "…"}}]}
/// ```
package struct WireBatch {
  package enum Action: String, CaseIterable, Sendable {
    case insert, update, save, delete
  }

  /// A change, whose record is not yet validated against its model.
  package struct Change {
    package var model: String
    package var action: Action
    /// The record, or the key of a deletion.
    package var record: JSONValue
    /// The state that an update expects.
    package var ifMatch: EntityTag.List?
    /// The state, in the form of a header.
    private var ifMatchText: String?

    package init(_ model: String, _ action: Action, _ record: JSONValue, ifMatch: EntityTag? = nil) {
      self.model = model
      self.action = action
      self.record = record
      ifMatchText = ifMatch?.text
      self.ifMatch = ifMatchText.flatMap { EntityTag.List($0) }
    }

    init(_ json: JSONValue) throws {
      guard case .object(let members) = json else {
        throw PersistenceError.invalidRequest("a change is an object, not \(json.kind)")
      }
      guard case .string(let model)? = json.member("model") else {
        throw PersistenceError.invalidRequest("a change names its “model”")
      }
      let actions = members.compactMap { member in Action(rawValue: member.name).map { ($0, member.value) } }
      guard actions.count == 1 else {
        throw PersistenceError.invalidRequest("a change has one of insert, update, save, delete")
      }
      (action, record) = actions[0]
      self.model = model
      let known = ["model", action.rawValue] + (action == .update ? ["ifMatch"] : [])
      if let other = members.first(where: { !known.contains($0.name) }) {
        throw PersistenceError.invalidRequest("a change has no member “\(other.name.prefix(40))”")
      }
      if let ifMatch = json.member("ifMatch") {
        guard case .string(let text) = ifMatch, let list = EntityTag.List(text) else {
          throw PersistenceError.invalidRequest("“ifMatch” is an entity tag, as a header has it")
        }
        self.ifMatch = list
        ifMatchText = text
      }
    }

    var json: JSONValue {
      .object(
        [JSONMember("model", .string(model)), JSONMember(action.rawValue, record)]
          + (ifMatchText.map { [JSONMember("ifMatch", .string($0))] } ?? []))
    }
  }

  /// The batch's id, which makes it idempotent; nil to apply it every time.
  package var id: UUID?
  package var changes: [Change]

  package init(_ changes: [Change], id: UUID?) {
    self.changes = changes
    self.id = id
  }

  /// Reads a batch.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest``.
  package init(_ json: JSONValue) throws {
    guard case .object(let members) = json else {
      throw PersistenceError.invalidRequest("a batch is an object, not \(json.kind)")
    }
    if let other = members.first(where: { !["id", "changes"].contains($0.name) }) {
      throw PersistenceError.invalidRequest("a batch has no member “\(other.name.prefix(40))”")
    }
    guard case .array(let elements)? = json.member("changes") else {
      throw PersistenceError.invalidRequest("a batch has “changes”, an array")
    }
    changes = try elements.map { try Change($0) }
    switch json.member("id") {
    case nil: break
    case .string(let text)?:
      guard let id = UUID(uuidString: text) else { fallthrough }
      self.id = id
    default: throw PersistenceError.invalidRequest("a batch's “id” is a UUID")
    }
  }

  /// The digest of the changes, which tells batches with the same id apart.
  package var digest: [UInt8] {
    let text = JSONText.canonical(.array(changes.map(\.json)))
    return SHA256.hash(data: text.utf8).bytes
  }

  package var json: JSONValue {
    .object(
      (id.map { [JSONMember("id", .string($0.uuidString))] } ?? [])
        + [JSONMember("changes", .array(changes.map(\.json)))])
  }
}
