import Foundation
package import PersistenceDriver
import PersistencePrimitives

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

/// The SHA-256 digest of one record's canonical bytes.
///
/// The canonical bytes are the digest of the field names, sorted by their UTF-8 bytes, and then the values in that order.
/// Each value is its kind's tag followed by an engine-independent form: eight big-endian bytes for integers, doubles and
/// dates; length and bytes for text, bytes, decimals and documents; sixteen bytes for a UUID. Equal records therefore
/// have equal digests in every engine and for every field order.
package struct RecordDigest: Sendable, Hashable {
  let words: (UInt64, UInt64, UInt64, UInt64)

  init(_ digest: SHA256Digest) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { target in digest.withUnsafeBytes { target.copyMemory(from: $0) } }
    // The digest is a big-endian number.
    self.words = (words.3.bigEndian, words.2.bigEndian, words.1.bigEndian, words.0.bigEndian)
  }

  package static func == (left: RecordDigest, right: RecordDigest) -> Bool { left.words == right.words }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}

/// Computes the digests of records of one schema.
package final class RecordDigester {
  /// Longer values are hashed in place, without a copy.
  private static let copyLimit = 4096

  private let positions: [Int]
  /// The digest of the field names, with which every record's bytes begin.
  private let seed: [UInt8]
  /// The canonical bytes that are not hashed yet.
  private var bytes: UnsafeMutableRawBufferPointer
  private var count = 0

  /// Creates a digester.
  ///
  /// `names` contains the fields to include; nil for all.
  package init(_ schema: ModelSchema, fields names: Set<StoredName>? = nil) {
    let counted = schema.fields.indices
      .map { (name: StoredName(schema.fields[$0].name), position: $0) }
      .filter { names?.contains($0.name) ?? true }
      .sorted { $0.name < $1.name }
    positions = counted.map(\.position)
    var hasher = SHA256()
    for (name, _) in counted {
      let text = Array(name.text.utf8)
      withUnsafeBytes(of: UInt64(text.count).bigEndian) { hasher.update(bufferPointer: $0) }
      hasher.update(data: text)
    }
    seed = Array(hasher.finalize())
    bytes = .allocate(byteCount: 1024, alignment: 8)
  }

  deinit { bytes.deallocate() }

  package func digest(of row: borrowing Row) -> RecordDigest {
    var hasher = SHA256()
    count = 0
    seed.withUnsafeBytes { append($0) }
    for position in positions {
      let cell = row[position]
      makeRoom(1 + 16)
      bytes[count] = cell.tag.rawValue
      count += 1
      switch cell.tag {
      case .null: break
      case .bool:
        bytes[count] = cell.boolValue ? 1 : 0
        count += 1
      case .integer: append(UInt64(bitPattern: cell.integerValue))
      case .double, .date: append(TotalOrder.normalized(cell.doubleValue).bitPattern)
      case .uuid: withUnsafeBytes(of: cell.uuidValue.uuid) { append($0) }
      case .text, .bytes, .decimal, .document:
        let content = cell.borrowedBytes
        append(UInt64(content.count))
        if content.count <= Self.copyLimit {
          append(content)
        } else {
          flush(into: &hasher)
          hasher.update(bufferPointer: content)
        }
      }
    }
    flush(into: &hasher)
    return RecordDigest(hasher.finalize())
  }

  private func flush(into hasher: inout SHA256) {
    hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    count = 0
  }

  /// Appends eight bytes; the caller ensures the capacity.
  private func append(_ number: UInt64) {
    bytes.storeBytes(of: number.bigEndian, toByteOffset: count, as: UInt64.self)
    count += 8
  }

  private func append(_ content: UnsafeRawBufferPointer) {
    makeRoom(content.count)
    UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).copyMemory(from: content)
    count += content.count
  }

  private func makeRoom(_ more: Int) {
    guard count + more > bytes.count else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * (count + more), alignment: 8)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    bytes.deallocate()
    bytes = larger
  }
}

extension Row {
  /// The approximate size of the row's values in bytes, which limits batches and pages.
  package var approximateSize: Int {
    var size = 0
    for position in 0..<count {
      switch self[position].tag {
      case .text, .bytes, .decimal, .document: size += 8 + self[position].borrowedBytes.count
      default: size += 8
      }
    }
    return size
  }
}
