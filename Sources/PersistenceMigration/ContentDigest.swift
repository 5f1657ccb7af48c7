/// The digest of a set of records, whatever order they were met in: the sum of their digests modulo 2^256.
///
/// Equal sets have equal digests, so two stores of different engines can be compared without sorting either.
/// It finds accidents (a record lost, added or changed), not an adversary who may choose records at will. After
/// MSet-Add-Hash in Clarke, Devadas, van Dijk, Gassend and Suh, “Incremental Multiset Hash Functions and Their
/// Application to Memory Integrity Checking”, ASIACRYPT 2003.
public struct ContentDigest: Sendable, Hashable, Codable {
  private var words: [UInt64] = [0, 0, 0, 0]

  /// The digest of no records.
  public init() {}

  /// Adds a record.
  public mutating func add(_ record: RecordDigest) {
    var carry: UInt64 = 0
    func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
      let (first, overflowed) = left.addingReportingOverflow(right)
      let (second, overflowedAgain) = first.addingReportingOverflow(carry)
      carry = (overflowed ? 1 : 0) + (overflowedAgain ? 1 : 0)
      return second
    }
    words[0] = sum(words[0], record.words.0)
    words[1] = sum(words[1], record.words.1)
    words[2] = sum(words[2], record.words.2)
    words[3] = sum(words[3], record.words.3)
  }

  /// Decodes a digest from its hexadecimal text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    let digits = Array(text.utf8)
    guard digits.count == 64 else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 64 hexadecimal digits")
    }
    words = try (0..<4).reversed().map { word in
      let part = String(decoding: digits[word * 16..<word * 16 + 16], as: UTF8.self)
      guard let number = UInt64(part, radix: 16) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
      }
      return number
    }
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
    words.reversed().map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }
}
