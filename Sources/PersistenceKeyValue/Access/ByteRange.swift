/// A run of stored keys: from a key on, up to but without another.
struct ByteRange: Sendable, Hashable {
  var lower: [UInt8]
  /// nil where there is no end.
  var upper: [UInt8]?

  /// Whether no key can lie in it.
  var isEmpty: Bool { upper.map { ByteOrder.compare(lower, $0) >= 0 } ?? false }

  /// What both ranges hold.
  func clamped(to other: ByteRange) -> ByteRange {
    let lower = ByteOrder.compare(lower, other.lower) >= 0 ? lower : other.lower
    guard let first = upper, let second = other.upper else {
      return ByteRange(lower: lower, upper: upper ?? other.upper)
    }
    return ByteRange(lower: lower, upper: ByteOrder.compare(first, second) <= 0 ? first : second)
  }
}
