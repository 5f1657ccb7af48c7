#if HTTP
  import HTTPTypes

  /// The headers that depend on the kind of an answer only, which are made once for each kind.
  enum AnswerHeaders {
    /// The headers of an answer.
    ///
    /// - Parameters:
    ///   - isRead: Whether it is one to GET or HEAD.
    ///   - isKept: Whether a private cache may keep it, because it can check it again; a shared one must not.
    ///   - isCompressible: Whether it may be sent compressed.
    ///   - isMarked: Whether it has the mark by which ``Compression`` finds it.
    /// - Returns: The headers.
    static func fields(isRead: Bool, isKept: Bool, isCompressible: Bool, isMarked: Bool) -> HTTPFields {
      var kind = 0
      if isRead { kind |= 1 }
      if isKept { kind |= 2 }
      if isCompressible { kind |= 4 }
      if isMarked { kind |= 8 }
      return all[kind]
    }

    private static let all: [HTTPFields] = (0..<16).map { kind in
      made(
        isRead: kind & 1 != 0, isKept: kind & 2 != 0, isCompressible: kind & 4 != 0, isMarked: kind & 8 != 0)
    }

    private static func made(isRead: Bool, isKept: Bool, isCompressible: Bool, isMarked: Bool) -> HTTPFields {
      var fields = HTTPFields()
      fields[.cacheControl] = isKept ? "private, no-cache" : "no-store"
      if isRead {
        fields.append(HTTPField(name: .vary, value: "Accept"))
        fields.append(HTTPField(name: .vary, value: "Authorization"))
      }
      if let name = HeaderNames.contentTypeOptions { fields[name] = "nosniff" }
      if isCompressible { fields.append(HTTPField(name: .vary, value: "Accept-Encoding")) }
      if isMarked, let name = HeaderNames.compressionMark { fields[name] = "1" }
      return fields
    }
  }
#endif
