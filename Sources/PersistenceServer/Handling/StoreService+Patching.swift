#if HTTP
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
        try RecordJSON.read(
          try JSONParser.parse(before, of: .envelope).merged(with: patch), schema, into: row)
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
    ///
    /// - Complexity: Linear in the number of members of both: clients send patches with any number of them.
    fileprivate func merged(with patch: JSONValue) -> JSONValue {
      guard case .object(let changes) = patch else { return patch }
      var members: [JSONMember?] = []
      if case .object(let own) = self { members = own }
      // By bytes: the two normal forms of a name are two members (contract V3).
      var places: [StoredName: Int] = [:]
      for (place, member) in members.enumerated() {
        if let member { places[StoredName(member.name)] = place }
      }
      for change in changes {
        let place = places[StoredName(change.name)]
        if case .null = change.value {
          if let place { members[place] = nil }
        } else if let place {
          let before = members[place]?.value ?? .object([])
          members[place] = JSONMember(change.name, before.merged(with: change.value))
        } else {
          places[StoredName(change.name)] = members.count
          members.append(JSONMember(change.name, JSONValue.object([]).merged(with: change.value)))
        }
      }
      return .object(members.compactMap(\.self))
    }
  }
#endif
