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
      "/health": ["get": Operation("health", "Whether the server is running").isOpen().answers(204).json],
      "/ready": [
        "get": Operation("ready", "Whether the store can be read").isOpen().answers(204).fails(500, 503).json
      ],
      "/metrics": [
        "get": Operation("metrics", "Counts and times of requests, in the text format of Prometheus")
          .answersText().json
      ],
      "/openapi.json": [
        "get": Operation("description", "This document").answers(200, ["type": "object"]).json
      ],
      "/models": [
        "get": Operation("models", "The schemas of all models").answers(200, Self.reference("Models")).json
      ],
      "/models/{model}": modelPath, "/batches": ["post": batches], "/schemas/{digest}": schemaPath,
    ]
    let models = models.enumerated().map { OpenAPIModel(schema: $1, number: $0, limits: limits) }
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "A store of Persistence for Swift", "version": "1",
        "description":
          "Records of the models below, queried, paged and written. Errors are problems (RFC 9457) with a stable code.",
      ],
      "security": [["token": []]],
      "paths": .object(([paths] + models.map(\.paths)).flatMap { $0.map { JSONMember($0, $1) } }),
      "components": [
        "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
        "schemas": .object(OpenAPISchemas.common.map { JSONMember($0, $1) } + models.flatMap(\.schemas)),
      ],
    ]
  }

  static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

  private var modelPath: JSONValue {
    let name: JSONValue = [
      "name": "model", "in": "path", "required": true, "schema": ["type": "string"],
      "description": "The model's name",
    ]
    return [
      "parameters": [name],
      "get": Operation("schema", "The schema of a model").answers(200, Self.reference("Model"))
        .fails(400, 404).json,
      "put": Operation(
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
      "put": Operation(
        "acceptSchema",
        "Tells the server a client's schema, which later requests name by the parameter schema"
      )
      .takes(Self.reference("Model"))
      .answers(
        200, ["type": "object", "required": ["schema"], "properties": ["schema": ["type": "string"]]]
      ).fails(400, 413, 415).json,
    ]
  }

  private var batches: JSONValue {
    let key: JSONValue = [
      "name": "Idempotency-Key", "in": "header", "required": false,
      "schema": ["type": "string", "format": "uuid"],
      "description": "The batch's id, unless the body has it",
    ]
    return Operation(
      "apply", "Applies changes in one transaction; a batch whose id was applied before changes nothing"
    )
    .parameters([key]).takesSchema().takes(Self.reference("Batch"))
    .answers(
      200, ["type": "object", "required": ["applied"], "properties": ["applied": ["type": "boolean"]]]
    ).writes().json
  }
}
