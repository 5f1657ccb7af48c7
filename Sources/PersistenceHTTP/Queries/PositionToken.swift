import Foundation
package import PersistenceDriver
import PersistencePrimitives

/// The bookmark at the end of a page, as a token that a client sends back for the next page.
///
/// It contains the values of the sort key, and a digest of the query. The server validates it like any other
/// input, so a forged token can only start a page at another position.
package enum PositionToken {
  /// The token of a bookmark.
  package static func text(_ anchor: PageAnchor, of request: FetchRequest) throws -> String {
    let content = JSONValue.array([.string(fingerprint(request)), try json(anchor, of: request)])
    return Base64URL.text(Array(JSONText.canonical(content).utf8))
  }

  /// The values of a bookmark, one for each criterion of the total order.
  package static func json(_ anchor: PageAnchor, of request: FetchRequest) throws -> JSONValue {
    .array(
      try zip(anchor.values, request.totalOrder).map { value, criterion in
        try OperandJSON.json(value, for: try request.schema.requiredField(named: criterion.field))
      })
  }

  /// The bookmark of a token.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if it is not a token,
  ///   or belongs to another query.
  package static func anchor(_ text: String, of request: FetchRequest) throws -> PageAnchor {
    guard let bytes = Base64URL.bytes(text),
      let content = try? bytes.withUnsafeBytes({ try JSONParser.parse($0) }),
      case .array(let parts) = content, parts.count == 2, case .string(let query) = parts[0],
      case .array(let values) = parts[1]
    else { throw PersistenceError.invalidRequest("“after” is not a token of a page") }
    guard query == fingerprint(request) else {
      throw PersistenceError.invalidRequest(
        "the token belongs to another query, with another filter or order; start with the first page")
    }
    return try anchor(values, of: request)
  }

  /// The bookmark of values, one for each criterion of the total order.
  package static func anchor(_ values: [JSONValue], of request: FetchRequest) throws -> PageAnchor {
    guard values.count == request.totalOrder.count else {
      throw PersistenceError.invalidRequest(
        "“after” has \(values.count) values, the order has \(request.totalOrder.count) criteria")
    }
    return PageAnchor(
      try zip(values, request.totalOrder).map { value, criterion in
        try OperandJSON.value(value, for: try request.schema.requiredField(named: criterion.field))
      })
  }

  private static func fingerprint(_ request: FetchRequest) -> String {
    Base64URL.text(Array(SHA256.hash(data: Data(request.identifyingText.utf8)).prefix(9)))
  }
}
