import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives
import Testing

@Suite("V8 conditions on parts of documents in queries of the server")
struct DocumentConditionTests {
  private let schema: ModelSchema

  init() throws {
    schema = try ModelSchema(
      name: "Film",
      fields: [FieldSchema("id", .int64), FieldSchema("place", .document), FieldSchema("title", .string)],
      key: ["id"])
  }

  private func node(_ text: String) throws -> PredicateNode {
    try PredicateJSON.node(JSONParser.parse(text), schema, limits: QueryLimits())
  }

  @Test(
    "a condition is written, and read as itself",
    arguments: [
      DocumentCondition.comparison(.equal, .document(#"{"a":1.50}"#)), .comparison(.notEqual, .null),
      .comparison(.greaterOrEqual, .document("\"x\"")), .contains(.document("true")), .contains(.null),
      .text(.matches, "a+", isCaseInsensitive: false), .text(.contains, "é", isCaseInsensitive: true),
    ], [[], ["city"], ["a", "", "b.c"]])
  func roundTrip(condition: DocumentCondition, path: [String]) throws {
    let node = PredicateNode.document(field: "place", path: path, condition)
    let text = JSONText.canonical(try PredicateJSON.json(node, schema))
    #expect(try self.node(text) == node, "\(text)")
  }

  @Test("the documented form is read")
  func form() throws {
    let city = PredicateNode.document(
      field: "place", path: ["city"], .comparison(.equal, .document("\"Berlin\"")))
    #expect(try node(#"{"field": "place", "path": ["city"], "is": "=", "value": "Berlin"}"#) == city)
    #expect(
      try node(#"{"field": "place", "path": [], "includes": 1.0}"#)
        == .document(field: "place", path: [], .contains(.document("1.0"))))
  }

  @Test(
    "malformed conditions are refused",
    arguments: [
      #"{"field": "place", "path": "city", "is": "==", "value": 1}"#,
      #"{"field": "place", "path": [1], "is": "==", "value": 1}"#,
      #"{"field": "place", "path": [], "is": "~", "value": 1}"#,
      #"{"field": "place", "path": [], "between": [1, 2]}"#, #"{"field": "place", "path": []}"#,
      #"{"field": "place", "path": [], "contains": 1}"#,
      #"{"field": "place", "path": [], "contains": "a", "caseInsensitive": 1}"#,
    ])
  func malformed(text: String) {
    let error = #expect(throws: PersistenceError.self) { try node(text) }
    #expect(error?.code == .invalidRequest)
  }

  @Test("a part of another kind of field is refused when the request is made")
  func otherKind() throws {
    let title = try node(#"{"field": "title", "path": ["a"], "is": "==", "value": 1}"#)
    let error = #expect(throws: PersistenceError.self) { try FetchRequest(schema, where: title) }
    #expect(error?.code == .invalidRequest)
  }
}
