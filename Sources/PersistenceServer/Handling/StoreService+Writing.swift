#if HTTP
  import Foundation
  import PersistenceDriver
  import PersistenceHTTP
  import PersistenceDriverSupport
  import PersistencePrimitives

  extension StoreService {
    func insert(_ name: String, _ request: ServiceRequest) throws -> Answer {
      _ = try request.parameters(known: [])
      let json = try request.json()
      return try writing(name) { transaction, schema in
        try requireDefined(in: transaction)
        let row = RowBuffer(count: schema.fields.count)
        try RecordJSON.read(json, schema, into: row)
        let key = try row.withRow { row in
          try transaction.insert(row, in: schema)
          return try RecordKey(of: row, in: schema)
        }
        var answer = Answer.record(try stored(key, schema, in: transaction), status: 201)
        answer.headers.append(("Location", WirePath.record(key, in: schema).text))
        return answer
      }
    }

    /// Replaces or inserts a record, under the conditions of the request.
    func replace(_ name: String, _ path: [String], _ request: ServiceRequest) throws -> Answer {
      _ = try request.parameters(known: [])
      let json = try request.json()
      let wanted = try request.ifMatchTags()
      let unwanted = try request.ifNoneMatchTags()
      return try writing(name) { transaction, schema in
        let key = try RecordKey(path: path, in: schema)
        let row = RowBuffer(count: schema.fields.count)
        try RecordJSON.read(json, schema, into: row)
        guard try row.withRow({ try RecordKey(of: $0, in: schema) }) == key else {
          throw PersistenceError.invalidRequest("the key of the record differs from the key of the path")
        }
        try requireDefined(in: transaction)
        let before = try line(of: key, schema, in: transaction)
        try require(wanted, unwanted, before, key, schema)
        try row.withRow { try transaction.save($0, in: schema) }
        return .record(try stored(key, schema, in: transaction), status: before == nil ? 201 : 200)
      }
    }

    /// Deletes a record, under the conditions of the request.
    func delete(_ name: String, _ path: [String], _ request: ServiceRequest) throws -> Answer {
      _ = try request.parameters(known: [])
      let wanted = try request.ifMatchTags()
      let unwanted = try request.ifNoneMatchTags()
      return try writing(name) { transaction, schema in
        let key = try RecordKey(path: path, in: schema)
        let before = try line(of: key, schema, in: transaction)
        try require(wanted, unwanted, before, key, schema)
        guard let before else { throw PersistenceError.notFound(key, in: schema) }
        _ = try transaction.delete(key, in: schema)
        return .record(before)
      }
    }

    /// Applies all changes of a batch or none, once for each batch id.
    func apply(_ request: ServiceRequest) throws -> Answer {
      _ = try request.parameters(known: [])
      var batch = try WireBatch(try request.json())
      if let header = request.idempotencyKey {
        guard let id = UUID(uuidString: header.trimmingCharacters(in: ["\"", " "])) else {
          throw PersistenceError.invalidRequest("the header Idempotency-Key must be a UUID")
        }
        guard batch.id == nil || batch.id == id else {
          throw PersistenceError.invalidRequest("the header Idempotency-Key differs from the id of the batch")
        }
        batch.id = id
      }
      var isNew = true
      let digest = batch.id.map { _ in batch.digest }
      try context.keepingTransaction(.replayable) { transaction in
        if let id = batch.id { isNew = try AppliedBatches().record(id, digest: digest, in: transaction) }
        guard isNew else { return }
        var schemas: [StoredName: (ModelSchema, RowBuffer)] = [:]
        var isDefined = false
        for (number, change) in batch.changes.enumerated() {
          do {
            let name = StoredName(change.model)
            if schemas[name] == nil {
              let schema = try schema(change.model, in: transaction)
              schemas[name] = (schema, RowBuffer(count: schema.fields.count))
            }
            if change.action != .delete, !isDefined, name == declared.first.map({ StoredName($0.name) }) {
              try requireDefined(in: transaction)
              isDefined = true
            }
            guard let (schema, row) = schemas[name] else { continue }
            try make(change, schema, row, in: transaction)
          } catch let error as PersistenceError {
            throw inBatch(Problem(error), number)
          } catch let problem as Problem {
            throw inBatch(problem, number)
          }
        }
      }
      return .json(["applied": .bool(isNew)])
    }

    private func inBatch(_ problem: Problem, _ number: Int) -> Problem {
      var problem = problem
      problem.change = number
      // The batch itself exists and has no condition, so its content conflicts with the store.
      if problem.status == 404 || problem.status == 412 { problem.status = 409 }
      return problem
    }

    private func make(
      _ change: WireBatch.Change, _ schema: ModelSchema, _ row: RowBuffer,
      in transaction: any StorageTransaction
    ) throws {
      if change.action == .delete {
        _ = try transaction.delete(try RecordJSON.key(change.record, schema), in: schema)
        return
      }
      try RecordJSON.read(change.record, schema, into: row)
      try row.withRow { row in
        switch change.action {
        case .insert: try transaction.insert(row, in: schema)
        case .save: try transaction.save(row, in: schema)
        case .update:
          if let wanted = change.ifMatch {
            let key = try RecordKey(of: row, in: schema)
            try require(wanted, nil, try line(of: key, schema, in: transaction), key, schema)
          }
          try transaction.update(row, in: schema)
        case .delete: break
        }
      }
    }

    /// Runs a closure in a transaction, with the schema of a model.
    func writing(
      _ name: String, _ body: (any StorageTransaction, ModelSchema) throws -> Answer
    ) throws -> Answer {
      var answer = Answer(status: 204)
      try context.keepingTransaction(.replayable) { answer = try body($0, try schema(name, in: $0)) }
      return answer
    }

    /// The stored record, which can have less precision than the sent one.
    func stored(_ key: RecordKey, _ schema: ModelSchema, in transaction: any StorageTransaction) throws
      -> String
    {
      guard let line = try line(of: key, schema, in: transaction) else {
        throw PersistenceError.notFound(key, in: schema)
      }
      return line
    }

    /// Checks the conditions of a request against the stored record; nil if there is none.
    func require(
      _ wanted: EntityTag.List?, _ unwanted: EntityTag.List?, _ stored: String?, _ key: RecordKey,
      _ schema: ModelSchema
    ) throws {
      let tag = stored.map { EntityTag(ofLine: $0) }
      if let wanted, !wanted.matches(tag) {
        guard tag != nil else {
          throw Problem(status: 412, .notFound, "the record does not exist", model: schema.name)
        }
        throw Problem(
          status: 412, .conflict,
          "the stored record differs from the expected one; read it and apply the change again",
          model: schema.name)
      }
      if let unwanted, unwanted.matches(tag) {
        let code: PersistenceError.Code = unwanted == .any ? .duplicateKey : .conflict
        throw Problem(status: 412, code, "the record exists already", model: schema.name)
      }
    }
  }
#endif
