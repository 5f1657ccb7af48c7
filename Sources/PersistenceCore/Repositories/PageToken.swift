import Foundation
import PersistenceDriver

/// The place where a page ended, to go on from later, perhaps in another process: opaque text, which may be kept in
/// a file or handed to a client.
///
/// It holds the values that decide the order, as they were in the last record of the page, so it stays good when that
/// record is changed or deleted. It is bound to its query, whose filter and order must be the same, and to its store;
/// another query refuses it with ``PersistenceError/Code/invalidRequest``, another store with
/// ``PersistenceError/Code/incompatibleContext`` (contract E1). It is not encrypted.
public struct PageToken: Sendable, Hashable {
  /// The token as text of letters, digits, `-` and `_`.
  public let text: String

  /// Takes a token's text; whether it is one is found out when it is used.
  public init(text: String) { self.text = text }
}

extension PageToken: Codable {
  /// Decodes the text.
  public init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension PageToken: CustomStringConvertible {
  /// The text.
  public var description: String { text }
}

extension PageToken {
  private struct Content: Codable {
    var version = 1
    var store: UInt64
    var query: UInt64
    var values: [PersistentValue]
  }

  init(_ anchor: PageAnchor, of request: FetchRequest, location: String) throws {
    let content = Content(
      store: Self.fingerprint(location), query: Self.fingerprint(request), values: anchor.values)
    do {
      let data = try JSONEncoder().encode(content)
      text = data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
        "=", with: "")
    } catch {
      throw PersistenceError(
        .encodingFailed, "a page token could not be made: \(error)", model: request.schema.name)
    }
  }

  /// The place that the token stands for, in a query without limit and offset.
  ///
  /// - Throws: ``PersistenceError`` where it is no token, or one of another query or store.
  func anchor(for request: FetchRequest, location: String) throws -> PageAnchor {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    guard let data = Data(base64Encoded: base64),
      let content = try? JSONDecoder().decode(Content.self, from: data),
      content.version == 1
    else {
      throw PersistenceError.invalidRequest(
        "the text is no page token; use one that a page of this query gave")
    }
    guard content.store == Self.fingerprint(location) else {
      throw PersistenceError(
        .incompatibleContext, "the page token belongs to another store; begin again with the first page",
        model: request.schema.name, location: location)
    }
    guard content.query == Self.fingerprint(request) else {
      throw PersistenceError.invalidRequest(
        "the page token belongs to another query of \(request.schema.name), with another filter or order; begin again "
          + "with the first page")
    }
    return PageAnchor(content.values)
  }

  private static func fingerprint(_ request: FetchRequest) -> UInt64 {
    let order = request.totalOrder.map(\.description).joined(separator: ",")
    return fingerprint("\(request.schema)\n\(request.predicate?.description ?? "")\n\(order)")
  }

  /// FNV-1a (Fowler, Noll, Vo), the same in every process: it tells queries apart, it keeps nobody out.
  private static func fingerprint(_ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
