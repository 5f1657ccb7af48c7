import Foundation
import PersistencePrimitives

/// An entity tag: the digest of a record's canonical JSON, which the server and its clients can compute.
package struct EntityTag: Hashable, Sendable {
  /// The tag, with quotation marks, as in a header.
  package let text: String

  package init(ofLine line: String) { self.init(SHA256.hash(data: line.utf8)) }

  package init(ofLine line: [UInt8]) { self.init(SHA256.hash(data: line)) }

  private init(_ digest: SHA256Digest) {
    var quoted = [UInt8(ascii: "\"")]
    digest.withUnsafeBytes { Base64Text.append($0, .url, to: &quoted) }
    quoted.append(UInt8(ascii: "\""))
    text = String(decoding: quoted, as: UTF8.self)
  }

  private init(text: String) { self.text = text }

  /// The tags of an If-Match or If-None-Match header.
  package enum List: Equatable, Sendable {
    /// `*`: any state.
    case any
    case tags([EntityTag])

    /// Reads a header's value; nil if it is malformed.
    ///
    /// Weak tags match in If-None-Match, but not in If-Match.
    package init?(_ header: String, matchesWeakly: Bool = false) {
      let trimmed = header.trimmingCharacters(in: .whitespaces)
      if trimmed == "*" {
        self = .any
        return
      }
      var tags: [EntityTag] = []
      for part in trimmed.split(separator: ",", omittingEmptySubsequences: false) {
        var tag = part.trimmingCharacters(in: .whitespaces)
        let isWeak = tag.hasPrefix("W/")
        if isWeak { tag.removeFirst(2) }
        guard tag.utf8.count >= 2, tag.first == "\"", tag.last == "\"",
          !tag.dropFirst().dropLast().contains("\"")
        else { return nil }
        if matchesWeakly || !isWeak { tags.append(EntityTag(text: tag)) }
      }
      self = .tags(tags)
    }

    /// Whether the list matches a record's tag; nil for no record.
    package func matches(_ tag: EntityTag?) -> Bool {
      guard let tag else { return false }
      switch self {
      case .any: return true
      case .tags(let tags): return tags.contains(tag)
      }
    }
  }
}

/// Base64 with the alphabet for URLs and headers, without padding.
package enum Base64URL {
  package static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    bytes.withUnsafeBytes { Base64Text.append($0, .url, to: &text) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text; nil if it is not Base64.
  package static func bytes(_ text: String) -> [UInt8]? {
    guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") }) else { return nil }
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding).map {
      [UInt8]($0)
    }
  }
}
