/// A prepared search for one run of bytes inside another.
///
/// The search tests eight positions at once for the needle's first and last byte, then compares each
/// candidate. If too many candidates fail ("aab" in "aaaa…"), it continues with the algorithm of Knuth,
/// Morris and Pratt (1977). So it is linear on every input.
struct ByteSearch: Sendable {
  let needle: [UInt8]

  /// The failure function of Knuth, Morris and Pratt: for each prefix, its longest proper suffix that is a
  /// prefix.
  private let borders: [Int32]

  init(_ needle: [UInt8]) {
    self.needle = needle
    var borders = [Int32](repeating: 0, count: needle.count)
    var length = 0
    for index in needle.indices.dropFirst() {
      while length > 0, needle[index] != needle[length] { length = Int(borders[length - 1]) }
      if needle[index] == needle[length] { length += 1 }
      borders[index] = Int32(length)
    }
    self.borders = borders
  }

  /// The first index at or after `start` of an occurrence that ends before `end`, or nil.
  func firstIndex(in text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int? {
    needle.withUnsafeBufferPointer { needle in
      guard let pattern = needle.baseAddress, !needle.isEmpty else { return start }
      guard let base = text.baseAddress, end - start >= needle.count else { return nil }
      let offsetOfLast = needle.count - 1
      let lastStart = end - needle.count
      let first = Self.spread(pattern[0])
      let last = Self.spread(pattern[offsetOfLast])
      let raw = UnsafeRawPointer(base)
      var budget = 64 + 4 * (end - start)
      var index = start
      while index &+ 7 <= lastStart {
        let heads = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ first
        let tails =
          UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index &+ offsetOfLast, as: UInt64.self))
          ^ last
        let differing = heads | tails
        // A high bit for each zero byte. Bits above a zero byte may be false; the comparison rejects them.
        var candidates = (differing &- 0x0101_0101_0101_0101) & ~differing & 0x8080_8080_8080_8080
        while candidates != 0 {
          let place = index &+ candidates.trailingZeroBitCount >> 3
          if Self.areEqual(base + place, pattern, count: needle.count, budget: &budget) { return place }
          if budget < 0 { return slowIndex(in: base, from: place &+ 1, to: end, pattern, needle.count) }
          candidates &= candidates &- 1
        }
        index &+= 8
      }
      while index <= lastStart {
        if base[index] == pattern[0],
          Self.areEqual(base + index, pattern, count: needle.count, budget: &budget)
        {
          return index
        }
        if budget < 0 { return slowIndex(in: base, from: index &+ 1, to: end, pattern, needle.count) }
        index &+= 1
      }
      return nil
    }
  }

  private func slowIndex(
    in base: UnsafePointer<UInt8>, from start: Int, to end: Int, _ pattern: UnsafePointer<UInt8>, _ count: Int
  ) -> Int? {
    borders.withUnsafeBufferPointer { borders in
      var length = 0
      var index = start
      while index < end {
        let byte = base[index]
        index &+= 1
        while length > 0, byte != pattern[length] { length = Int(borders[length &- 1]) }
        if byte == pattern[length] { length &+= 1 }
        if length == count { return index &- count }
      }
      return nil
    }
  }

  @inline(__always)
  private static func spread(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

  /// Compares `count` bytes.
  @inline(__always)
  static func areEqual(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int) -> Bool {
    var budget = Int.max
    return areEqual(left, right, count: count, budget: &budget)
  }

  /// Compares bytes, and subtracts the number of bytes it read from `budget`.
  @inline(__always)
  private static func areEqual(
    _ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int, budget: inout Int
  ) -> Bool {
    var index = 0
    while index &+ 8 <= count {
      let one = UnsafeRawPointer(left).loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let other = UnsafeRawPointer(right).loadUnaligned(fromByteOffset: index, as: UInt64.self)
      index &+= 8
      if one != other {
        budget &-= index
        return false
      }
    }
    while index < count {
      index &+= 1
      if left[index &- 1] != right[index &- 1] {
        budget &-= index
        return false
      }
    }
    return true
  }
}
