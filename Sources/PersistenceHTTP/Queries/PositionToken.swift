package import PersistenceDriver
package import PersistenceDriverSupport
import PersistencePrimitives

/// The bookmark at the end of a page, as a token that a client sends back for the next page.
///
/// It contains the values of the sort key, and a digest of the query. The server validates it like any other
/// input, so a forged token can only start a page at another position.
package enum PositionToken {
  /// The token of a bookmark.
  package static func text(_ anchor: PageAnchor, of order: PageOrder) throws -> String {
    try text(anchor, of: order, fingerprint(order))
  }

  /// The same with the fingerprint of the order, which callers keep.
  package static func text(_ anchor: PageAnchor, of order: PageOrder, _ fingerprint: String) throws -> String
  {
    // The canonical text of an array of the fingerprint, which needs no escapes, and the values.
    var bytes = Array("[\"\(fingerprint)\",".utf8)
    JSONText.append(try json(anchor, order.fields), to: &bytes)
    bytes.append(UInt8(ascii: "]"))
    return Base64URL.text(bytes)
  }

  /// The values of a bookmark, one for each field that it is made of.
  package static func json(_ anchor: PageAnchor, _ fields: [FieldSchema]) throws -> JSONValue {
    .array(try zip(anchor.values, fields).map { try OperandJSON.json($0, for: $1) })
  }

  /// The bookmark of a token.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if it is not a token,
  ///   or belongs to another query.
  package static func anchor(_ text: String, of order: PageOrder) throws -> PageAnchor {
    guard let bytes = Base64URL.bytes(text),
      let content = try? bytes.withUnsafeBytes({ try JSONParser.parse($0) }),
      case .array(let parts) = content, parts.count == 2, case .string(let query) = parts[0],
      case .array(let values) = parts[1]
    else { throw PersistenceError.invalidRequest("“after” is not a token of a page") }
    guard query == fingerprint(order) else {
      throw PersistenceError.invalidRequest(
        "the token belongs to another query, with another filter or order; start with the first page")
    }
    return try anchor(values, of: order)
  }

  /// The bookmark of values, one for each field that it is made of.
  package static func anchor(_ values: [JSONValue], of order: PageOrder) throws -> PageAnchor {
    guard values.count == order.fields.count else {
      throw PersistenceError.invalidRequest(
        "“after” has \(values.count) values, the order has \(order.fields.count) criteria")
    }
    return PageAnchor(try zip(values, order.fields).map { try OperandJSON.value($0, for: $1) })
  }

  /// What tells the tokens of an order from those of others.
  package static func fingerprint(_ order: PageOrder) -> String {
    Base64URL.text(Array(SHA256.hash(data: order.identifyingText.utf8).bytes.prefix(9)))
  }
}
