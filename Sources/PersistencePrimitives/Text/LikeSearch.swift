/// A search for the first occurrence of a ``LikeRun`` between two `%`.
final class LikeSearch: Sendable {
  /// The limit of runs with a `_` between their literals, in scalars.
  static let longestWildcardRun = 4096

  private enum Core: Sendable {
    case nothing
    case bytes(ByteSearch)
    case wildcards(WildcardSearch)
  }

  /// The number of `_` before and after the core: next to a `%`, they only require that many scalars.
  private let before: Int
  private let after: Int
  private let core: Core

  init(_ run: LikeRun) throws {
    var pieces = run.pieces[...]
    before = Self.wildcards(pieces.first)
    if before > 0 { pieces.removeFirst() }
    after = Self.wildcards(pieces.last)
    if after > 0 { pieces.removeLast() }
    switch pieces.count {
    case 0: core = .nothing
    case 1: core = .bytes(ByteSearch(LikeRun(pieces).leadingBytes))
    default: core = .wildcards(try WildcardSearch(LikeRun(pieces)))
    }
  }

  private static func wildcards(_ piece: LikeRun.Piece?) -> Int {
    if case .anyScalars(let count) = piece { count } else { 0 }
  }

  /// The index after the first occurrence of the run between `start` and `end`.
  func end(in text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int? {
    guard var index = LikeRun.skip(before, in: text, from: start, to: end) else { return nil }
    switch core {
    case .nothing: break
    case .bytes(let search):
      guard let place = search.firstIndex(in: text, from: index, to: end) else { return nil }
      index = place + search.needle.count
    case .wildcards(let search):
      guard let place = search.firstEnd(in: text, from: index, to: end) else { return nil }
      index = place
    }
    return LikeRun.skip(after, in: text, from: index, to: end)
  }
}

/// A search for literals with wildcards between them, by the shift-and algorithm of Baeza-Yates and Gonnet
/// (1992): each scalar of the run has one bit, which is set while the run matches up to that scalar.
struct WildcardSearch: Sendable {
  private let words: Int

  /// The bit of the run's last scalar, in the last word.
  private let lastBit: UInt64

  /// A row of `words` words for all scalars that do not occur in the run, then one for each that does.
  ///
  /// A bit is set if the scalar matches that position of the run.
  private let rows: [UInt64]

  /// The row of each ASCII scalar, as an offset into `rows`.
  private let asciiRows: [Int]

  private let otherRows: [UInt32: Int]

  init(_ run: LikeRun) throws {
    var places: [UInt32?] = []
    for piece in run.pieces {
      switch piece {
      case .bytes(let bytes): places += String(decoding: bytes, as: UTF8.self).unicodeScalars.map(\.value)
      case .anyScalars(let count): places += [UInt32?](repeating: nil, count: count)
      }
      guard places.count <= LikeSearch.longestWildcardRun else {
        throw TextPatternError(
          reason: "the pattern is too large: more than \(LikeSearch.longestWildcardRun) characters with '_' "
            + "among them between two '%'", position: 0)
      }
    }
    let words = (places.count + 63) / 64
    var rowOf: [UInt32: Int] = [:]
    for case let scalar? in places where rowOf[scalar] == nil { rowOf[scalar] = (rowOf.count + 1) * words }
    var rows = [UInt64](repeating: 0, count: (rowOf.count + 1) * words)
    for (place, scalar) in places.enumerated() {
      let bit = UInt64(1) << (place % 64)
      if let scalar {
        rows[rowOf[scalar, default: 0] + place / 64] |= bit
      } else {
        for row in stride(from: 0, to: rows.count, by: words) { rows[row + place / 64] |= bit }
      }
    }
    self.words = words
    self.rows = rows
    lastBit = UInt64(1) << ((places.count - 1) % 64)
    asciiRows = (UInt32(0)..<0x80).map { rowOf[$0, default: 0] }
    otherRows = rowOf.filter { $0.key >= 0x80 }
  }

  /// The index after the first occurrence of the run between `start` and `end`.
  func firstEnd(in text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int? {
    guard let base = text.baseAddress else { return nil }
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: words) { state in
      state.initialize(repeating: 0)
      return rows.withUnsafeBufferPointer { rows in
        asciiRows.withUnsafeBufferPointer { asciiRows in
          var index = start
          while index < end {
            let (scalar, next) = ScalarCoding.decode(base, at: index, end: end)
            var row = 0
            if scalar < 0x80 {
              row = asciiRows[Int(scalar)]
            } else if !otherRows.isEmpty {
              row = otherRows[scalar, default: 0]
            }
            index = next
            var carry: UInt64 = 1
            for word in 0..<words {
              let old = state[word]
              state[word] = (old << 1 | carry) & rows[row + word]
              carry = old >> 63
            }
            if state[words - 1] & lastBit != 0 { return index }
          }
          return nil
        }
      }
    }
  }
}
