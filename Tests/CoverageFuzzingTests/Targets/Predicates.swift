import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives

extension FuzzTarget {
  /// Queries as bodies: a condition as JSON, an order, a page.
  static let predicates = FuzzTarget(name: "predicates", seeds: Predicates.seeds) { bytes in
    let schema = try FuzzModels.everyKind()
    let (store, relations) = (MemoryContext(), StoredRelations(MemoryContext(), declared: [schema]))
    guard let json = try accepted(JSONSyntaxError.self, { try JSONParser.parse(bytes) }),
      let asked = try accepted(
        PersistenceError.self, { try WireQuery(json, schema, relations: relations, limits: QueryLimits()) }),
      let request = try accepted(PersistenceError.self, { try asked.request(in: store) })
    else { return }
    let after = try request.after.map {
      try PositionToken.json($0, asked.query.pageOrder(by: store).fields)
    }
    let body = try WireQuery.json(
      asked.query, after: after, including: asked.inclusions, related: [schema])
    let written = try JSONParser.parse(JSONText.canonical(body))
    let again = try WireQuery(written, schema, relations: relations, limits: .none)
    try require(
      again.query == asked.query && again.inclusions == asked.inclusions
        && again.request(in: store).after == request.after, "a query changes when it is written")
    if let predicate = request.predicate { try Conditions.evaluate(predicate, schema) }
  }
}

extension WireQuery {
  /// The request for a driver, in which an empty store has answered what the query asks of related records.
  func request(in store: MemoryContext) throws -> FetchRequest {
    try query.answered(by: store, after: anchor(in: query.pageOrder(by: store))).request
  }
}

private enum Predicates {
  @Sendable static func seeds() throws -> [[UInt8]] {
    [
      #"{"where":{"all":[{"field":"string","is":"==","value":"PG-13"},{"not":{"field":"int8","between":[1,1000]}}]}}"#,
      #"{"where":{"any":[{"field":"document","path":["tags"],"includes":"new"},true,{"field":"double","in":[null,"NaN"]}]}}"#,
      #"{"where":{"field":"document","path":["city"],"matches":"^O","caseInsensitive":true},"limit":5,"offset":2}"#,
      #"{"where":{"field":"document","path":[],"is":"<","value":{"a":[1]}},"sort":["-date",{"field":"id"}]}"#,
      #"{"where":{"field":"int16","is":"<=","other":"int64"},"sort":"string,-\"is new\"","after":["a",true,3]}"#,
      #"{"where":"id > 3 and url like 'h%'","after":[3]}"#,
      #"{"where":{"field":"string","like":"_%","caseInsensitive":false}}"#,
      #"{"where":{"has":"id","model":"Every kind","where":{"field":"id","in":[1]}},"sort":[{"field":"date","of":"id","model":"Every kind"}]}"#,
      #"{"where":{"not":{"hasAny":"int64","model":"Every kind"}},"include":[{"has":"id","model":"Every kind","include":[]}]}"#,
    ].map { Array($0.utf8) }
  }
}
