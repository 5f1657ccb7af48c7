#if HTTP
  import Logging
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import PersistencePrimitives

  extension StoreService {
    /// Accepts the schema of a client.
    func accept(_ digest: String, _ request: ServiceRequest) throws -> Answer {
      _ = try request.parameters(known: [])
      let schema = try WireSchema(received: try request.json(of: .document))
      guard schema.digest == digest else {
        throw PersistenceError.invalidRequest("the path is not the digest of the schema")
      }
      try schemas.add(schema)
      return .json(["schema": .string(digest)])
    }

    /// Defines a model, or changes it as far as the server allows.
    func define(_ name: String, _ request: ServiceRequest) throws -> Answer {
      _ = try request.parameters(known: [])
      let received = try WireSchema(received: try request.json(of: .document))
      let declaration = received.declaration
      let schema = declaration.schema
      guard StoredName(schema.name) == StoredName(name) else {
        throw PersistenceError.invalidRequest("the model of the schema differs from the model of the path")
      }
      try schemas.add(received)
      // Most models are known already, and comparing them must not wait for a writer.
      guard let isNew = try mustChange(for: declaration, try context.snapshot()) else {
        return .json(schema.json)
      }
      let fits = SchemaFits(location: "")
      fits.declare(declaration)
      try context.keepingTransaction(.exclusive) { transaction in
        // Another client may have changed the store in the meantime.
        guard try mustChange(for: declaration, transaction) != nil else { return }
        try fits.evolve(schema, limit: .indexes, in: transaction)
      }
      if !isNew { finishIndexes(of: schema.name) }
      return .json(schema.json, status: isNew ? 201 : 200)
    }

    /// Builds the indexes that a large store has deferred, between the writes of other clients.
    ///
    /// The definition is complete without them, so an error does not fail the request.
    private func finishIndexes(of model: String) {
      do {
        try context.finishIndexes()
      } catch {
        context.monitor.logger.warning(
          "indexes wait, and no query uses them; call finishIndexes()",
          metadata: ["model": "\(model)", "error": "\(error)"])
      }
    }

    /// Whether the store must change for a declaration, and lacks its model; nil if it need not change.
    ///
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` or
    ///   ``PersistenceError/Code/newerStore`` and the differences, if clients may not make the change.
    private func mustChange(for declaration: ModelDeclaration, _ reader: any StorageReader) throws -> Bool? {
      let schema = declaration.schema
      let (fit, history) = try SchemaFits.fit(declaration, reader, location: "")
      switch fit {
      case .same, .mapped: return nil
      case .absent: return true
      case .refused(let differences):
        throw PersistenceError.schemaMismatch(differences, schema, history, location: "")
      case .evolves(let plan):
        if evolution.allows(plan) { return false }
        // The store would only remember more about the past; the client works without that.
        if plan.change.changesNothing { return nil }
        let differences = plan.differences(from: schema, cost: try reader.cost(of: plan.change))
        throw PersistenceError.schemaMismatch(differences, schema, history, location: "")
      }
    }

    /// Checks that the store can keep every record of the client's schema.
    func requireDefined(in transaction: any StorageTransaction) throws {
      guard let declared = declared.first, let fitted = transaction as? FittedTransaction else { return }
      switch try fitted.canStoreEveryRecord(of: declared) {
      case true?: return
      case false?:
        throw Problem(
          status: 409, .unknownModel,
          "the store cannot keep every record of the schema; define the model first",
          model: declared.name)
      case nil: throw Self.unknownModel
      }
    }

    static let unknownModel = Problem(
      status: 404, .unknownModel, "the server has no such model; define it first")
  }
#endif
