package import PersistenceDriver
import PersistencePrimitives

/// The description of a server (OpenAPI 3.1), generated from the models of its store.
package struct OpenAPIDocument {
  private let models: [ModelSchema]
  private let limits: QueryLimits

  package init(_ models: [ModelSchema], limits: QueryLimits) {
    self.models = models
    self.limits = limits
  }

  package var json: JSONValue {
    let paths: KeyValuePairs<String, JSONValue> = [
      "/health": [
        "get": server("health", "Whether the server is running").isOpen().answers(204).json
      ],
      "/ready": [
        "get": server("ready", "Whether the store can be read").isOpen().answers(204).fails(500, 503).json
      ],
      "/metrics": [
        "get": server("metrics", "Counts and times of requests, in the text format of Prometheus")
          .answersText().json
      ],
      "/openapi.json": [
        "get": server("description", "This document").answers(200, ["type": "object"]).json
      ],
      "/models": [
        "get": store("models", "The schemas of all models").answers(200, Self.reference("Models")).json
      ],
      "/models/{model}": modelPath, "/batches": ["post": batches], "/schemas/{digest}": schemaPath,
    ]
    let models = zip(models, OpenAPINames.names(of: models, besides: [Self.serverTag, Self.storeTag])).map {
      OpenAPIModel(schema: $0, name: $1, limits: limits)
    }
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "A store of Persistence for Swift", "version": "1",
        "description":
          "Records of the models below, queried, paged and written. Errors are problems (RFC 9457) with a stable code.",
      ],
      "security": [["token": []]],
      "tags": .array(
        [
          ["name": .string(Self.serverTag), "description": "The server itself"],
          ["name": .string(Self.storeTag), "description": "Its models, and changes of several records"],
        ] + models.map(\.tag)),
      "paths": .object(([paths] + models.map(\.paths)).flatMap { $0.map { JSONMember($0, $1) } }),
      "components": [
        "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
        "schemas": .object(OpenAPISchemas.common + models.flatMap(\.schemas)),
      ],
    ]
  }

  static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

  /// The tags that are not those of models.
  private static let (serverTag, storeTag) = ("server", "store")

  private func server(_ id: String, _ summary: String) -> Operation {
    Operation(id, tag: Self.serverTag, summary)
  }

  private func store(_ id: String, _ summary: String) -> Operation {
    Operation(id, tag: Self.storeTag, summary)
  }

  private var modelPath: JSONValue {
    let name: JSONValue = [
      "name": "model", "in": "path", "required": true, "schema": ["type": "string"],
      "description": "The model's name",
    ]
    return [
      "parameters": [name],
      "get": store("schema", "The schema of a model").answers(200, Self.reference("Model"))
        .fails(400, 404).json,
      "put": store(
        "define",
        "Defines a model, or adds to it what the server permits; answers 409 with the differences otherwise"
      )
      .takes(Self.reference("Model"))
      .answers(200, Self.reference("Model")).answers(201, Self.reference("Model")).writes().json,
    ]
  }

  private var schemaPath: JSONValue {
    let digest: JSONValue = [
      "name": "digest", "in": "path", "required": true, "schema": ["type": "string", "minLength": 1],
      "description": "The SHA-256, in Base64url, of the schema's canonical JSON",
    ]
    return [
      "parameters": [digest],
      "put": store(
        "acceptSchema",
        "Tells the server a client's schema, which later requests name by the parameter schema"
      )
      .takes(Self.reference("Model"))
      .answers(200, Self.reference("AcceptedSchema")).fails(400, 413, 415).json,
    ]
  }

  private var batches: JSONValue {
    let key: JSONValue = [
      "name": "Idempotency-Key", "in": "header", "required": false,
      "schema": ["type": "string", "format": "uuid"],
      "description": "The batch's id, unless the body has it",
    ]
    return store(
      "apply", "Applies changes in one transaction; a batch whose id was applied before changes nothing"
    )
    .parameters([key]).takesSchema().takes(Self.reference("Batch"))
    .answers(200, Self.reference("AppliedBatch")).writes().json
  }
}
