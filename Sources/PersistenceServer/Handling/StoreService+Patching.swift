import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives

extension StoreService {
  /// Changes some fields of a record by a merge patch (RFC 7396), under the conditions of the request.
  func patch(_ name: String, _ path: [String], _ request: ServiceRequest) throws -> Answer {
    _ = try request.parameters(known: [])
    let patch = try request.json()
    guard case .object = patch else {
      throw PersistenceError.invalidRequest(
        "a patch is an object with the fields to change, not \(patch.kind)")
    }
    let wanted = try request.ifMatchTags()
    let unwanted = try request.ifNoneMatchTags()
    return try writing(name) { transaction, schema in
      let key = try RecordKey(path: path, in: schema)
      try requireDefined(in: transaction)
      let before = try line(of: key, schema, in: transaction)
      try require(wanted, unwanted, before, key, schema)
      guard let before else { throw PersistenceError.notFound(key, in: schema) }
      let row = RowBuffer(count: schema.fields.count)
      try RecordJSON.read(try JSONParser.parse(before, of: .envelope).merged(with: patch), schema, into: row)
      guard try row.withRow({ try RecordKey(of: $0, in: schema) }) == key else {
        throw PersistenceError.invalidRequest("a patch cannot change the key of a record")
      }
      try row.withRow { try transaction.update($0, in: schema) }
      return .record(try stored(key, schema, in: transaction))
    }
  }
}

extension JSONValue {
  /// The value that a merge patch makes of this one: null removes a member, and objects are merged.
  fileprivate func merged(with patch: JSONValue) -> JSONValue {
    guard case .object(let changes) = patch else { return patch }
    var members: [JSONMember] = []
    if case .object(let own) = self { members = own }
    for change in changes {
      let index = members.firstIndex { $0.name == change.name }
      if case .null = change.value {
        if let index { members.remove(at: index) }
      } else if let index {
        members[index] = JSONMember(change.name, members[index].value.merged(with: change.value))
      } else {
        members.append(JSONMember(change.name, JSONValue.object([]).merged(with: change.value)))
      }
    }
    return .object(members)
  }
}
