#if HTTP
  public import Foundation

  /// A bearer token from a token provider.
  ///
  /// Its description does not show the text, so that logs do not contain it.
  public struct RemoteToken: Sendable, Hashable {
    /// The token: visible ASCII characters.
    public var text: String
    /// When the token expires; nil if only the server knows.
    public var expiration: Date?

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - text: The token.
    ///   - expiration: When it expires. The client asks the provider for another one ten seconds earlier.
    public init(_ text: String, expires expiration: Date? = nil) {
      (self.text, self.expiration) = (text, expiration)
    }
  }

  extension RemoteToken: CustomStringConvertible, CustomReflectable {
    /// The expiration, without the text.
    public var description: String { "RemoteToken(expires: \(expiration.map { "\($0)" } ?? "unknown"))" }

    /// A mirror without the text.
    public var customMirror: Mirror { Mirror(self, children: ["expiration": expiration as Any]) }
  }
#endif
