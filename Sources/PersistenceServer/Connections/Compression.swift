#if HTTP
  import NIOHTTP1
  import NIOHTTPCompression

  /// The compression of answers and bodies with gzip or deflate.
  enum Compression {
    /// Shorter answers would hardly become shorter.
    private static let smallestSize = 1024

    /// Compresses the marked answers to clients that accept it.
    static var answers: HTTPResponseCompressor {
      HTTPResponseCompressor(responseCompressionPredicate: { head, isSupported in
        guard head.headers.contains(name: RequestGuard.compressionMark) else { return .doNotCompress }
        head.headers.remove(name: RequestGuard.compressionMark)
        let size = head.headers.first(name: "Content-Length").flatMap { Int($0) }
        guard isSupported, size ?? .max >= smallestSize else { return .doNotCompress }
        // The compressor keeps the length of an answer whose body follows its head later.
        head.headers.remove(name: "Content-Length")
        return .compressIfPossible
      })
    }

    /// Unpacks bodies, up to a size in bytes.
    static func bodies(_ size: Int) -> NIOHTTPRequestDecompressor {
      NIOHTTPRequestDecompressor(limit: .size(size))
    }
  }
#endif
