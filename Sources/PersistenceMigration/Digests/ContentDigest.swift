/// The digest of a set of records in any order: the sum of their digests modulo 2^256.
///
/// Equal sets have equal digests, so stores of different engines can be compared without sorting. The digest detects
/// accidents (a lost, added or changed record), but not an adversary that chooses records. After
/// MSet-Add-Hash in Clarke, Devadas, van Dijk, Gassend and Suh, “Incremental Multiset Hash Functions and Their
/// Application to Memory Integrity Checking”, ASIACRYPT 2003.
///
/// Because a digest is a sum, it can be updated for an added or removed record without reading the others.
public struct ContentDigest: Sendable, Hashable {
  /// The words of the number, least significant first.
  private var first: UInt64 = 0
  private var second: UInt64 = 0
  private var third: UInt64 = 0
  private var fourth: UInt64 = 0

  package init() {}

  package mutating func add(_ record: RecordDigest) {
    add(record.words.0, record.words.1, record.words.2, record.words.3)
  }

  package mutating func add(_ other: ContentDigest) {
    add(other.first, other.second, other.third, other.fourth)
  }

  package mutating func subtract(_ record: RecordDigest) {
    subtract(record.words.0, record.words.1, record.words.2, record.words.3)
  }

  package mutating func subtract(_ other: ContentDigest) {
    subtract(other.first, other.second, other.third, other.fourth)
  }

  private mutating func add(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
    var carry: UInt64 = 0
    func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
      let (part, overflowed) = left.addingReportingOverflow(right)
      let (whole, overflowedAgain) = part.addingReportingOverflow(carry)
      carry = (overflowed ? 1 : 0) + (overflowedAgain ? 1 : 0)
      return whole
    }
    self.first = sum(self.first, first)
    self.second = sum(self.second, second)
    self.third = sum(self.third, third)
    self.fourth = sum(self.fourth, fourth)
  }

  private mutating func subtract(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
    // Add the two's complement.
    add(~first, ~second, ~third, ~fourth)
    add(1, 0, 0, 0)
  }
}

extension ContentDigest: Codable {
  /// Decodes a digest from its hexadecimal text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    let digits = Array(text.utf8)
    guard digits.count == 64 else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 64 hexadecimal digits")
    }
    let words = try (0..<4).reversed().map { word in
      let part = String(decoding: digits[word * 16..<word * 16 + 16], as: UTF8.self)
      guard let number = UInt64(part, radix: 16) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
      }
      return number
    }
    (first, second, third, fourth) = (words[0], words[1], words[2], words[3])
  }

  /// Encodes the digest as its hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension ContentDigest: CustomStringConvertible {
  /// The digest as 64 hexadecimal digits.
  public var description: String {
    [fourth, third, second, first].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }
}
