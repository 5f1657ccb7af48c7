import PersistenceDriver
import PersistencePrimitives

extension FieldSchema {
  /// The members of the field in JSON.
  var wireMembers: [JSONMember] {
    [
      JSONMember("name", .string(name)), JSONMember("kind", .string(kind.rawValue)),
      JSONMember("isOptional", .bool(isOptional)),
    ]
  }

  init?(wire json: JSONValue) {
    guard case .string(let name)? = json.member("name"), case .string(let kind)? = json.member("kind"),
      let kind = FieldKind(rawValue: kind), case .bool(let isOptional)? = json.member("isOptional")
    else { return nil }
    self.init(name, kind, isOptional: isOptional)
  }
}
