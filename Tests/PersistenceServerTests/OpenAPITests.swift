import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives
import PersistenceServer
import Testing

@Suite("The OpenAPI description")
struct OpenAPITests {
  private static let methods = ["get", "put", "post", "patch", "delete"]

  /// Models whose names differ by case, are tags, or are no identifiers, with fields of all kinds.
  private static func models() throws -> [ModelSchema] {
    let kinds = FieldKind.allCases
    return try ["Film", "FILM", "server", "store", "a/b", "a_b", "", "..", "ü", "0"].map { name in
      try ModelSchema(
        name: name,
        fields: kinds.map { FieldSchema($0.rawValue, $0) }
          + kinds.map { FieldSchema("optional \($0.rawValue)", $0, isOptional: true) },
        key: ["uuid", "string"])
    }
  }

  private static func document() throws -> JSONValue {
    OpenAPIDocument(try models(), limits: QueryLimits()).json
  }

  @Test("every reference resolves, and every component is used")
  func references() throws {
    let document = try Self.document()
    let components = try #require(document.member("components")?.member("schemas")).members
    let names = components.map(\.name)
    #expect(Set(names).count == names.count)
    // Generators fold case and punctuation.
    #expect(Set(names.map { $0.lowercased() }).count == names.count)
    #expect(names.allSatisfy { $0.utf8.allSatisfy { $0.isNamePart } })
    var used: Set<String> = []
    document.visit { value in
      guard case .string(let reference)? = value.member("$ref") else { return }
      let prefix = "#/components/schemas/"
      #expect(reference.hasPrefix(prefix) && names.contains(String(reference.dropFirst(prefix.count))))
      used.insert(String(reference.dropFirst(prefix.count)))
    }
    #expect(Set(names).subtracting(used).isEmpty)
  }

  @Test("every operation has an identifier of its own, a known tag, and its path's parameters")
  func operations() throws {
    let document = try Self.document()
    let tags = try #require(document.member("tags")).elements().map { try $0.required("name").text() }
    #expect(Set(tags.map { $0.lowercased() }).count == tags.count)
    var identifiers: Set<String> = []
    for (path, item) in try Self.paths(document) {
      let shared = try item.member("parameters")?.elements() ?? []
      for method in Self.methods {
        guard let operation = item.member(method) else { continue }
        let identifier = try operation.required("operationId").text()
        #expect(identifiers.insert(identifier.lowercased()).inserted, "\(identifier)")
        #expect(try operation.required("tags").elements().map { try $0.text() }.allSatisfy(tags.contains))
        let parameters = try shared + (operation.member("parameters")?.elements() ?? [])
        let names = try parameters.map { try $0.required("name").text() }
        #expect(Set(names).count == names.count, "\(identifier)")
        let inPath = try parameters.filter { try $0.required("in").text() == "path" }
        let placeholders = path.split(separator: "{").dropFirst().map { String($0.prefix { $0 != "}" }) }
        #expect(try inPath.map { try $0.required("name").text() } == placeholders, "\(path)")
        #expect(parameters.allSatisfy { $0.member("schema") != nil })
        #expect((operation.member("requestBody") != nil) == ["put", "post", "patch"].contains(method))
      }
    }
  }

  @Test("every answer has a schema, apart from those without a body")
  func answers() throws {
    for (path, item) in try Self.paths(try Self.document()) {
      for method in Self.methods {
        guard let operation = item.member(method) else { continue }
        let responses = try operation.required("responses").members
        #expect(Set(responses.map(\.name)).count == responses.count)
        #expect(responses.contains { $0.name.hasPrefix("2") }, "\(method) \(path)")
        // A health check has no failures of its own, and needs no token.
        #expect(path == "/health" || path == "/ready" || responses.contains { $0.name == "401" }, "\(path)")
        for response in responses {
          let content = response.value.member("content")?.members ?? []
          let isEmpty = ["204", "304"].contains(response.name)
          #expect(content.isEmpty == isEmpty, "\(method) \(path) \(response.name)")
          #expect(content.allSatisfy { $0.value.member("schema") != nil }, "\(method) \(path)")
          #expect(response.value.member("description") != nil)
          let isProblem = (Int(response.name) ?? 0) >= 400
          #expect(content.contains { $0.name == Problem.mediaType } == isProblem, "\(response.name)")
        }
      }
    }
  }

  @Test("every schema of an object requires only its own properties")
  func schemas() throws {
    try Self.document().visit { value in
      guard case .array(let required)? = value.member("required") else { return }
      let properties = value.member("properties")?.members.map(\.name) ?? []
      for case .string(let name) in required { #expect(properties.contains(name), "\(name)") }
    }
  }

  @Test("the description has exactly the paths and methods that the server answers")
  func routes() async throws {
    let context = try Film.context([Film(1)])
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      let document = try #require(try await client("GET", "/openapi.json").json)
      let paths = try Self.paths(document)
      #expect(Set(paths.map(\.0)) == Set(Self.routes.map(Self.template)))
      for route in Self.routes {
        let item = try #require(paths.first { $0.0 == Self.template(of: route) }?.1)
        let described = Self.methods.filter { item.member($0) != nil }.map { $0.uppercased() }
        let refused = try await client("OPTIONS", route.text)
        #expect(refused.status == 405, "\(route)")
        let allowed =
          refused.headers["allow"]?.replacing(" ", with: "").split(separator: ",").map(String.init) ?? []
        // HEAD is what GET describes.
        #expect(Set(allowed).subtracting(["HEAD"]) == Set(described), "\(route)")
        #expect(allowed.contains("HEAD") == described.contains("GET"), "\(route)")
      }
    }
  }

  /// One of each kind of route, for the model of the store.
  private static let routes: [WirePath] = [
    .health, .ready, .metrics, .description, .models, .model("Film"), .records("Film"),
    .record("Film", ["1"]), .query("Film"), .count("Film"), .changes("Film"), .events("Film"), .batches,
    .schema("x"),
  ]

  /// The path of a route in the description; a new kind of route does not compile without one.
  private static func template(of route: WirePath) -> String {
    switch route {
    case .model: "/models/{model}"
    case .record(let model, let key):
      WirePath.records(model).text + key.indices.map { "/{key\($0 + 1)}" }.joined()
    case .schema: "/schemas/{digest}"
    case .health, .ready, .metrics, .description, .models, .records, .query, .count, .changes, .events,
      .batches:
      route.text
    }
  }

  private static func paths(_ document: JSONValue) throws -> [(String, JSONValue)] {
    try document.required("paths").members.map { ($0.name, $0.value) }
  }
}

extension JSONValue {
  fileprivate var members: [JSONMember] {
    if case .object(let members) = self { members } else { [] }
  }

  /// Calls a closure with this value and all values in it.
  fileprivate func visit(_ body: (JSONValue) throws -> Void) rethrows {
    try body(self)
    switch self {
    case .array(let elements): for element in elements { try element.visit(body) }
    case .object(let members): for member in members { try member.value.visit(body) }
    default: break
    }
  }
}

extension UInt8 {
  /// Whether a component's name may have the character.
  fileprivate var isNamePart: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
