import Foundation
import PersistenceDriver

/// The end of a page, from which a later query continues: opaque text that you can store in a file or send to a client.
///
/// It contains the sort values of the page's last record, so it remains valid when that record changes or is deleted, or
/// other fields of the model change (contract S11). A token is bound to its filter, its order and its store. A query
/// with another filter or order rejects it with ``PersistenceError/Code/invalidRequest``, another store with
/// ``PersistenceError/Code/incompatibleContext`` (contract E1). It is not encrypted.
public struct PageToken: Sendable, Hashable {
  /// The text of the token: letters, digits, `-` and `_`.
  public let text: String

  /// Creates a token from its text, which is validated when the token is used.
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

  init(_ anchor: PageAnchor, of query: String, model: String, location: String) throws {
    let content = Content(
      store: Self.fingerprint(location), query: Self.fingerprint(query), values: anchor.values)
    do {
      let base64 = try JSONEncoder().encode(content).base64EncodedString()
      text = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    } catch {
      throw PersistenceError(
        .encodingFailed, "the page token could not be encoded: \(error)", model: model)
    }
  }

  /// The anchor of the token; throws if the text is not a token, or belongs to another query or store.
  ///
  /// A query is its model, filter and order, but no other field, so that a token outlives changes of the others (contract
  /// S11).
  func anchor(for query: String, model: String, location: String) throws -> PageAnchor {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    guard let data = Data(base64Encoded: base64),
      let content = try? JSONDecoder().decode(Content.self, from: data),
      content.version == 1
    else {
      throw PersistenceError.invalidRequest(
        "the text is not a page token; use a token from a page of this query")
    }
    guard content.store == Self.fingerprint(location) else {
      throw PersistenceError(
        .incompatibleContext, "the page token belongs to another store; start again from the first page",
        model: model, location: location)
    }
    guard content.query == Self.fingerprint(query) else {
      throw PersistenceError.invalidRequest(
        "the page token belongs to a query of \(model) with another filter or order; start again from "
          + "the first page")
    }
    return PageAnchor(content.values)
  }

  /// The FNV-1a hash (Fowler, Noll, Vo), the same in every process.
  ///
  /// It distinguishes queries; it is not for security.
  private static func fingerprint(_ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
