/// How long one layer may take, and how old what it holds may be.
public struct LayerLimits: Sendable {
  /// How long one attempt may take; nil for as long as it does.
  public var timeout: Duration?

  /// How often the layer is asked.
  public var retry: RetryPolicy

  /// How old an answer may be that counts as good; nil for any age.
  ///
  /// A fallback may be older, and says how old it is.
  public var maximumAge: Duration?

  /// States limits.
  public init(timeout: Duration? = nil, retry: RetryPolicy = .once, maximumAge: Duration? = nil) {
    self.timeout = timeout
    self.retry = retry
    self.maximumAge = maximumAge
  }
}
