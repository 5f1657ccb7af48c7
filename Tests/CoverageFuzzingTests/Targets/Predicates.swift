import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives

extension FuzzTarget {
  /// Queries as bodies: a condition as JSON, an order, a page.
  static let predicates = FuzzTarget(name: "predicates", seeds: Predicates.seeds) { bytes in
    let schema = try FuzzModels.everyKind()
    guard let json = try accepted(JSONSyntaxError.self, { try JSONParser.parse(bytes) }),
      let request = try accepted(
        PersistenceError.self,
        {
          try WireQuery(json, schema, limits: QueryLimits()).request
        })
    else { return }
    let written = try JSONParser.parse(JSONText.canonical(try WireQuery.json(request)))
    let again = try WireQuery(written, schema, limits: .none).request
    try require(again == request, "a query changes when it is written")
    if let predicate = request.predicate { try Conditions.evaluate(predicate, schema) }
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
    ].map { Array($0.utf8) }
  }
}
