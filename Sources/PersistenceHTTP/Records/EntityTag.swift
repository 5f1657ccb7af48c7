import Foundation
import PersistencePrimitives

/// An entity tag: the digest of a record's canonical JSON, which the server and its clients can compute.
package struct EntityTag: Hashable, Sendable {
  /// The tag, with quotation marks, as in a header.
  package let text: String

  package init(ofLine line: String) {
    text = "\"" + Base64URL.text(Array(SHA256.hash(data: line.utf8))) + "\""
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
    var text = Array(Data(bytes).base64EncodedData())
    while text.last == UInt8(ascii: "=") { text.removeLast() }
    for index in text.indices {
      switch text[index] {
      case UInt8(ascii: "+"): text[index] = UInt8(ascii: "-")
      case UInt8(ascii: "/"): text[index] = UInt8(ascii: "_")
      default: break
      }
    }
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
