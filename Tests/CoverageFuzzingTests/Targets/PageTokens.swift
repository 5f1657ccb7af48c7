import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives

extension FuzzTarget {
  /// Tokens of pages; the first byte selects an order, and whether the bytes are a token or the values of one.
  static let tokens = FuzzTarget(name: "tokens", seeds: PageTokens.seeds) { bytes in
    guard let choice = bytes.first, let text = bytes.content.text else { return }
    let requests = try PageTokens.requests.get()
    let request = requests[Int(choice >> 1) % requests.count]
    let token =
      choice & 1 == 0
      ? text : Base64URL.text(Array("[\"\(try PageTokens.fingerprint(request))\",\(text)]".utf8))
    guard
      let anchor = try accepted(
        PersistenceError.self, { try PositionToken.anchor(token, of: request.pageOrder) })
    else {
      return
    }
    let page = try accepted(PersistenceError.self) {
      try FetchRequest(request.schema, where: request.predicate, order: request.order, after: anchor)
    }
    guard let page else { return }
    let written = try PositionToken.text(anchor, of: request.pageOrder)
    try require(
      try PositionToken.anchor(written, of: request.pageOrder) == anchor, "a bookmark changes in its token")
    let condition = try CompiledPredicate(page.predicateWithAnchor, in: page.schema)
    try FuzzModels.forEachRow { _ = try condition.matches($0) }
  }
}

extension FetchRequest {
  /// The order of the request's pages.
  fileprivate var pageOrder: PageOrder {
    get throws {
      try RelatedQuery(schema, where: predicate, order: order.map { .init($0) }).pageOrder(
        by: MemoryContext())
    }
  }
}

private enum PageTokens {
  static let requests = Result { () throws -> [FetchRequest] in
    let schema = try FuzzModels.everyKind()
    return [
      try FetchRequest(schema),
      try FetchRequest(
        schema, where: .comparison(field: "is new", .equal, .bool(true)),
        order: [FieldOrder("date", isDescending: true), FieldOrder("string")]),
      try FetchRequest(schema, order: schema.fields.filter(\.kind.isOrdered).map { FieldOrder($0.name) }),
    ]
  }

  /// The first record's bookmark.
  private static func anchor(_ request: FetchRequest) throws -> PageAnchor {
    PageAnchor(
      try request.totalOrder.map { criterion in
        guard let position = request.schema.position(of: criterion.field) else {
          throw FuzzFailure(description: "the order has an unknown field")
        }
        return FuzzModels.records[0][position]
      })
  }

  static func fingerprint(_ request: FetchRequest) throws -> String {
    let token = try PositionToken.text(try anchor(request), of: request.pageOrder)
    guard let content = try Base64URL.bytes(token)?.withUnsafeBytes({ try JSONParser.parse($0) }),
      case .array(let parts) = content, case .string(let text)? = parts.first
    else { throw FuzzFailure(description: "a token has no fingerprint") }
    return text
  }

  @Sendable static func seeds() throws -> [[UInt8]] {
    try requests.get().enumerated().flatMap { number, request in
      let anchor = try anchor(request)
      let token = try PositionToken.text(anchor, of: request.pageOrder)
      let values = JSONText.canonical(try PositionToken.json(anchor, request.pageOrder.fields))
      return [[UInt8(number << 1)] + Array(token.utf8), [UInt8(number << 1 | 1)] + Array(values.utf8)]
    }
  }
}
