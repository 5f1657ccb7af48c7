import PersistenceConformance
import PersistenceCore

extension PlantedDefect {
  /// E4, E6: mismatched schemas and colliding names.
  static let schemas: [PlantedDefect] = [
    PlantedDefect("another schema is accepted as the stored one", .e4) { flaw in
      flaw.schema = { schema, reader in
        let stored = try reader.catalog().first { StoredName($0.name) == StoredName(schema.name) }
        guard let stored, stored.fields.count == schema.fields.count else { return schema }
        return stored
      }
    },
    PlantedDefect("another schema starts an empty model", .e4) { flaw in
      let generations = Remembered<[StoredName: [ModelSchema]]>([:])
      flaw.schema = { schema, _ in
        let number = generations.change { generations in
          let known = generations[StoredName(schema.name), default: []]
          if let number = known.firstIndex(where: { schema.differences(from: $0).isEmpty }) { return number }
          generations[StoredName(schema.name), default: []].append(schema)
          return known.count
        }
        return try schema.renamed(number == 0 ? schema.name : "\(schema.name)#\(number)")
      }
    },
    PlantedDefect("model names that differ by case collide", .e6, isSemantic: false) { flaw in
      flaw.schema = { schema, _ in try schema.renamed(schema.name.lowercased()) }
    },
    PlantedDefect("model names lose symbols", .e6, isSemantic: false) { flaw in
      flaw.schema = { schema, _ in
        try schema.renamed(String(schema.name.map { $0.isLetter || $0.isNumber ? $0 : "_" }))
      }
    },
    PlantedDefect("a model that was never saved throws an error", .w1) { flaw in
      flaw.fetch = { request, reader in
        guard try reader.catalog().contains(where: { $0.name == request.schema.name }) else {
          throw PersistenceError(.engineFailure, "no such table: \(request.schema.name)")
        }
        return try reader.fetch(request)
      }
    },
  ]

  /// E2, W1: wrong errors.
  static let errors: [PlantedDefect] = [
    failing("a duplicate key throws notFound", .w1) { error, _ in
      guard error.code == .duplicateKey else { return error }
      return PersistenceError(.notFound, error.message, model: error.model, key: error.key)
    },
    failing("a missing record throws duplicateKey", .w1) { error, _ in
      guard error.code == .notFound else { return error }
      return PersistenceError(.duplicateKey, error.message, model: error.model, key: error.key)
    },
    failing("a duplicate unique value throws duplicateKey", .w4) { error, _ in
      guard error.code == .uniqueViolation else { return error }
      return PersistenceError(.duplicateKey, error.message, model: error.model, key: error.key)
    },
    failing("a unique violation does not name its field", .w4, .e2, isSemantic: false) { error, _ in
      var error = error
      error.field = nil
      return error
    },
    failing("the engine's own error leaks", .e2, .w1, isSemantic: false) { error, schema in
      EngineFailure(code: 2067, table: schema.name)
    },
    PlantedDefect("the closure's error is replaced", .w3, .e2, isSemantic: false) { flaw in
      flaw.transaction = { context, body in
        do {
          try context.transaction(body)
        } catch let error as PersistenceError {
          throw error
        } catch {
          throw PersistenceError(.engineFailure, "the transaction was rolled back")
        }
      }
    },
  ]

  private struct EngineFailure: Error {
    let code: Int
    let table: String
  }

  private static func failing(
    _ name: String, _ rules: ContractRule..., isSemantic: Bool = true,
    with replace: @escaping @Sendable (PersistenceError, ModelSchema) -> any Error
  ) -> PlantedDefect {
    PlantedDefect(name, rules: rules, isSemantic: isSemantic) { flaw in
      flaw.write = { verb, row, schema, transaction in
        do {
          try transaction.wrapped.write(verb, row, in: schema)
        } catch let error as PersistenceError {
          throw replace(error, schema)
        }
      }
    }
  }
}

extension ModelSchema {
  /// Returns the same schema with another name.
  func renamed(_ name: String) throws -> ModelSchema {
    StoredName(name) == StoredName(self.name)
      ? self : try ModelSchema(name: name, fields: fields, key: key, indexes: indexes)
  }
}
