import Foundation
import PersistenceDriver
import Testing

/// Conditions as JSON, which apps and layers store.
struct PredicateCodingTests {
  private static let nodes: [PredicateNode] = [
    .constant(true), .comparison(field: "year", .greaterOrEqual, .integer(1970)),
    .fieldComparison(left: "gross", .less, right: "budget"),
    .isIn(field: "rating", [.text("G"), .text("PG")]),
    .isBetween(field: "budget", lower: .double(1), upper: .double(2)),
    .text(field: "title", .hasPrefix, "the ", isCaseInsensitive: true),
    .text(field: "title", .like, "A%", isCaseInsensitive: false), .all([]), .any([]), .not(.constant(false)),
    .document(field: "address", path: ["city", ""], .comparison(.less, .document("\"x\""))),
    .document(field: "address", path: [], .comparison(.equal, .null)),
    .document(field: "tags", path: [], .contains(.document("1"))),
    .document(field: "address", path: ["city"], .text(.like, "a%", isCaseInsensitive: true)),
  ]

  private static let whole = PredicateNode.all([.any(nodes), .not(.all(nodes))])

  private func text(_ node: PredicateNode) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(node), as: UTF8.self)
  }

  private func node(_ text: String) throws -> PredicateNode {
    try JSONDecoder().decode(PredicateNode.self, from: Data(text.utf8))
  }

  @Test("every kind of condition has named members, and decodes to itself")
  func names() throws {
    for node in Self.nodes + [Self.whole] {
      let text = try text(node)
      #expect(!text.contains("\"_"), "\(text)")
      #expect(try self.node(text) == node, "\(text)")
    }
    #expect(try text(Self.nodes[1]) == #"{"field":"year","is":">=","value":{"integer":1970}}"#)
    #expect(try text(Self.nodes[5]) == #"{"caseInsensitive":true,"field":"title","hasPrefix":"the "}"#)
  }

  @Test("conditions that earlier versions stored, with members named after positions, are read")
  func earlierForm() throws {
    let old: [(String, PredicateNode)] = [
      (#"{"constant":{"_0":true}}"#, Self.nodes[0]),
      (#"{"comparison":{"field":"year","_1":">=","_2":{"integer":1970}}}"#, Self.nodes[1]),
      (#"{"fieldComparison":{"left":"gross","_1":"<","right":"budget"}}"#, Self.nodes[2]),
      (#"{"isIn":{"field":"rating","_1":[{"text":"G"},{"text":"PG"}]}}"#, Self.nodes[3]),
      (#"{"isBetween":{"field":"budget","lower":{"double":"1.0"},"upper":{"double":"2.0"}}}"#, Self.nodes[4]),
      (
        #"{"text":{"field":"title","_1":"hasPrefix","_2":"the ","isCaseInsensitive":true}}"#,
        Self.nodes[5]
      ),
      (#"{"all":{"_0":[]}}"#, .all([])),
      (#"{"any":{"_0":[{"constant":{"_0":true}}]}}"#, .any([.constant(true)])),
      (#"{"not":{"_0":{"constant":{"_0":false}}}}"#, .not(.constant(false))),
    ]
    for (text, node) in old { #expect(try self.node(text) == node, "\(text)") }
  }

  @Test("malformed conditions are refused")
  func malformed() {
    for text in [
      "{}", "[]", "1", #"{"field":"a"}"#, #"{"field":"a","is":">="}"#,
      #"{"field":"a","between":[{"integer":1}]}"#,
      #"{"field":"a","sounds":"x"}"#, #"{"all":[1]}"#, #"{"all":[],"any":[]}"#, #"{"constant":1}"#,
      #"{"field":"a","is":"~","value":{"integer":1}}"#, #"{"some":{"_0":1}}"#,
    ] {
      #expect(throws: DecodingError.self, "\(text)") { try node(text) }
    }
  }
}
