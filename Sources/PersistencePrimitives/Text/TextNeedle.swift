/// A literal text, prepared for searches in many texts (contract V7: contains, hasPrefix, hasSuffix).
///
/// The search compares Unicode scalars, not grapheme clusters: "e" is a prefix of "e" + U+0301. A
/// case-insensitive search lower-cases both sides first (``CaseFolding``). So "İ" (which becomes i and
/// U+0307) has the prefix "I", and contains U+0307. Every text contains the empty needle. All three
/// operations are linear in the text.
package struct TextNeedle: Sendable {
  private let search: ByteSearch
  private let caseInsensitive: Bool

  package init(_ text: String, caseInsensitive: Bool = false) {
    self.caseInsensitive = caseInsensitive
    search = ByteSearch(caseInsensitive ? CaseFolding.lowercasedBytes(text) : Array(text.utf8))
  }

  /// The bytes to find: the text's own, or its lower-cased ones.
  package var bytes: [UInt8] { search.needle }

  /// Whether the text, in UTF-8, contains the needle.
  package func isContained(in text: UnsafeBufferPointer<UInt8>) -> Bool {
    if search.needle.isEmpty { return true }
    if !caseInsensitive { return search.firstIndex(in: text, from: 0, to: text.count) != nil }
    if text.count > Self.longestFoldedAtOnce { return isContainedInPieces(of: text) }
    return CaseFolding.withLowercased(text) { search.firstIndex(in: $0, from: 0, to: $0.count) != nil }
  }

  /// Whether the text, in UTF-8, begins with the needle.
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

  /// Whether the text, in UTF-8, ends with the needle.
  package func isSuffix(of text: UnsafeBufferPointer<UInt8>) -> Bool {
    search.needle.withUnsafeBufferPointer { needle in
      guard let wanted = needle.baseAddress, !needle.isEmpty else { return true }
      guard let base = text.baseAddress, !text.isEmpty else { return false }
      if caseInsensitive { return isFoldedSuffix(needle, of: text, base) }
      let start = text.count - needle.count
      return start >= 0 && ByteSearch.areEqual(base + start, wanted, count: needle.count)
    }
  }

  /// Compares scalar by scalar from the end, since each scalar maps on its own.
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

  /// Searches a long text in pieces, so that memory depends on the needle and not on the text.
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
        // The needle may span this piece and the next.
        let carried = min(kept, filled)
        for index in 0..<carried { buffer[index] = buffer[filled - carried + index] }
        filled = carried
      }
      return false
    }
  }
}
