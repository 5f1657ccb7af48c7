#if HTTP
  import PersistenceDriver
  import PersistenceHTTP
  import PersistencePrimitives

  /// The body, parameters and tags of a request.
  extension ServiceRequest {
    func json(of content: JSONParser.Content = .envelope) throws -> JSONValue {
      do {
        return try body.withUnsafeBytes { try JSONParser.parse($0, of: content) }
      } catch let error as JSONSyntaxError {
        throw PersistenceError.invalidRequest("the body is not valid JSON: \(error)")
      }
    }

    func parameters(known: @autoclosure () -> Set<String>) throws -> QueryParameters {
      guard let parameters else { return try QueryParameters(nil, known: nil) }
      return try QueryParameters(
        parameters[...], known: path.takesSchema ? known().union(["schema"]) : known())
    }

    /// The digests of the client's schemas, that of the path's model first; nil if the request has none.
    func schemaDigests() throws -> [String]? {
      guard path.takesSchema, let parameters, Self.mayHaveSchema(parameters) else { return nil }
      return try QueryParameters(parameters[...], known: nil)["schema"]
        .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    /// Whether a parameter may be `schema`, also with escapes: no other name has a “c” in its second place.
    private static func mayHaveSchema(_ parameters: String) -> Bool {
      hasName(parameters) { place, byte in
        byte == UInt8(ascii: "%") || place == 1 && byte == UInt8(ascii: "c")
      }
    }

    /// Whether the request is for a page that only its order and limit decide: without a condition, whose evaluation may
    /// take long, inclusions, a count or a client's schema.
    var isPlainPage: Bool {
      guard case .records = path, method == .get || method == .head, !wantsLines, prefer == nil else {
        return false
      }
      guard let parameters else { return true }
      // These are `where` and `include`; `schema` has its “c”.
      return !Self.hasName(parameters) { place, byte in
        switch place {
        case 0: byte == UInt8(ascii: "w") || byte == UInt8(ascii: "i") || byte == UInt8(ascii: "%")
        case 1: byte == UInt8(ascii: "c") || byte == UInt8(ascii: "%")
        default: byte == UInt8(ascii: "%")
        }
      }
    }

    /// Whether a name of a parameter has a byte at a place that matches.
    private static func hasName(_ parameters: String, where matches: (_ place: Int, UInt8) -> Bool) -> Bool {
      // Negative in a value.
      var place = 0
      for byte in parameters.utf8 {
        if byte == UInt8(ascii: "&") {
          place = 0
        } else if byte == UInt8(ascii: "=") {
          place = -1
        } else if place >= 0 {
          if matches(place, byte) { return true }
          place += 1
        }
      }
      return false
    }

    /// The tags of the If-Match header, one of which the stored record must have.
    func ifMatchTags() throws -> EntityTag.List? {
      try ifMatch.map { try Self.list(EntityTag.List($0), "If-Match") }
    }

    /// The tags of the If-None-Match header, none of which the stored record may have.
    func ifNoneMatchTags() throws -> EntityTag.List? {
      try ifNoneMatch.map { try Self.list(EntityTag.List($0, matchesWeakly: true), "If-None-Match") }
    }

    private static func list(_ list: EntityTag.List?, _ name: String) throws -> EntityTag.List {
      guard let list else { throw PersistenceError.invalidRequest("the header \(name) is malformed") }
      return list
    }
  }
#endif
