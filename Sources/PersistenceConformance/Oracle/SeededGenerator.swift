package import Foundation

/// A random number generator with the same sequence for a seed on every run (SplitMix64, Steele, Lea and
/// Flood 2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  /// Returns one of the elements of a nonempty array.
  package mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[int(0...elements.count - 1)]
  }

  /// Returns true once in `count` calls, on average.
  package mutating func oneIn(_ count: Int) -> Bool { int(1...count) == 1 }

  package mutating func uuid() -> UUID {
    var bytes = (next(), next())
    return withUnsafeMutableBytes(of: &bytes) { bytes in UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) }
  }

  /// Returns text with scalars from all planes.
  package mutating func text(_ length: ClosedRange<Int>) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<int(length) { text.append(scalar()) }
    return String(text)
  }

  private mutating func scalar() -> Unicode.Scalar {
    let ranges: [ClosedRange<Int>] = [
      0x20...0x7E, 0x20...0x7E, 0...0x1F, 0x80...0x7FF, 0x800...0xFFFF, 0x1_0000...0x10_FFFF,
    ]
    while true {
      let range = pick(ranges)
      if let scalar = Unicode.Scalar(UInt32(int(range))) { return scalar }
    }
  }
}
