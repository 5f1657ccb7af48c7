/// A literal text, prepared to be looked for in many others (contract V7: contains, hasPrefix, hasSuffix).
///
/// The comparison is of Unicode scalars, never of grapheme clusters: "e" is a prefix of "e" + U+0301. Without
/// case, both sides are first replaced by their lower-cased scalars (``CaseFolding``) and then compared. So
/// "İ" (which becomes i and U+0307) has the prefix "I", and contains U+0307.
/// The empty needle is in every text. All three are linear in the text, whatever the needle.
package struct TextNeedle: Sendable {
  private let search: ByteSearch
  private let caseInsensitive: Bool

  package init(_ text: String, caseInsensitive: Bool = false) {
    self.caseInsensitive = caseInsensitive
    search = ByteSearch(caseInsensitive ? CaseFolding.lowercasedBytes(text) : Array(text.utf8))
  }

  /// The bytes looked for: the text's own, or its lower-cased ones.
  package var bytes: [UInt8] { search.needle }

  /// Whether the needle stands anywhere in the text, given as UTF-8.
  package func isContained(in text: UnsafeBufferPointer<UInt8>) -> Bool {
    if search.needle.isEmpty { return true }
    if !caseInsensitive { return search.firstIndex(in: text, from: 0, to: text.count) != nil }
    if text.count > Self.longestFoldedAtOnce { return isContainedInPieces(of: text) }
    return CaseFolding.withLowercased(text) { search.firstIndex(in: $0, from: 0, to: $0.count) != nil }
  }

  /// Whether the text, given as UTF-8, begins with the needle.
  package func isPrefix(of text: UnsafeBufferPointer<UInt8>) -> Bool {
    search.needle.withUnsafeBufferPointer { needle in
      guard let wanted = needle.baseAddress, !needle.isEmpty else { return true }
      guard let base = text.baseAddress, !text.isEmpty else { return false }
      if !caseInsensitive {
        return text.count >= needle.count && ByteSearch.areEqual(base, wanted, count: needle.count)
      }
      let room = needle.count + CaseFolding.longestMapping
      return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { buffer in
        var position = 0
        let written = CaseFolding.fold(text, from: &position, into: buffer)
        guard written >= needle.count, let folded = buffer.baseAddress else { return false }
        return ByteSearch.areEqual(folded, wanted, count: needle.count)
      }
    }
  }

  /// Whether the text, given as UTF-8, ends with the needle.
  package func isSuffix(of text: UnsafeBufferPointer<UInt8>) -> Bool {
    search.needle.withUnsafeBufferPointer { needle in
      guard let wanted = needle.baseAddress, !needle.isEmpty else { return true }
      guard let base = text.baseAddress, !text.isEmpty else { return false }
      if caseInsensitive { return isFoldedSuffix(needle, of: text, base) }
      let start = text.count - needle.count
      return start >= 0 && ByteSearch.areEqual(base + start, wanted, count: needle.count)
    }
  }

  /// Compares scalar by scalar from the end, which is possible since each is mapped for itself.
  private func isFoldedSuffix(
    _ needle: UnsafeBufferPointer<UInt8>, of text: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>
  ) -> Bool {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CaseFolding.longestMapping) { mapping in
      guard let target = mapping.baseAddress else { return false }
      var missing = needle.count
      var position = text.count
      while missing > 0 {
        guard position > 0 else { return false }
        let start = ScalarCoding.index(before: position, in: base, start: 0)
        let (scalar, _) = ScalarCoding.decode(base, at: start, end: position)
        position = start
        var length = CaseFolding.writeMapping(of: scalar, to: target)
        while length > 0, missing > 0 {
          length -= 1
          missing -= 1
          guard target[length] == needle[missing] else { return false }
        }
      }
      return true
    }
  }

  private static let longestFoldedAtOnce = 16_384

  /// Searches a long text in pieces, so that the memory needed is the needle's and not the text's.
  private func isContainedInPieces(of text: UnsafeBufferPointer<UInt8>) -> Bool {
    let kept = search.needle.count - 1
    let room = kept + max(Self.longestFoldedAtOnce, search.needle.count) + CaseFolding.longestMapping
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { buffer in
      var position = 0
      var filled = 0
      while position < text.count {
        let free = UnsafeMutableBufferPointer(rebasing: buffer[filled...])
        filled += CaseFolding.fold(text, from: &position, into: free)
        let folded = UnsafeBufferPointer(rebasing: buffer[..<filled])
        if search.firstIndex(in: folded, from: 0, to: filled) != nil { return true }
        // The needle may begin in the last bytes of this piece and end in the next.
        let carried = min(kept, filled)
        for index in 0..<carried { buffer[index] = buffer[filled - carried + index] }
        filled = carried
      }
      return false
    }
  }
}
