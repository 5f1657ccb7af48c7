import PersistenceConformance
import Foundation
import PersistenceDriver

/// Random values of every kind, including edge cases of codecs.
struct RandomValues {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  static let orderedKinds = FieldKind.allCases.filter(\.isOrdered)

  mutating func value(_ kind: FieldKind) -> PersistentValue {
    switch kind {
    case .bool: return .bool(random.oneIn(2))
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      let range = kind.integerRange ?? 0...0
      let edges = [range.lowerBound, range.upperBound, 0, 1, range.lowerBound + 1, range.upperBound - 1]
      return .integer(random.oneIn(2) ? random.pick(edges) : Int64.random(in: range, using: &random))
    case .float, .double: return PersistentValue.double(double()).normalized
    case .date: return PersistentValue.date(double()).normalized
    case .string, .url: return .text(text())
    case .data: return .bytes(bytes())
    case .uuid:
      return random.oneIn(4)
        ? .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))) : .uuid(random.uuid())
    case .decimal: return .decimal(decimal())
    case .document: return .document("{\"a\":\(random.int(0...3))}")
    }
  }

  mutating func double() -> Double {
    switch random.int(0...3) {
    case 0:
      return random.pick([
        0, -0.0, .infinity, -.infinity, .nan, -.nan, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
        .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1, -1, 9_007_199_254_740_992,
      ])
    case 1: return Double(bitPattern: random.next())
    default: return Double.random(in: -100...100, using: &random)
    }
  }

  /// Texts with common prefixes, with U+0000 and its neighbours.
  mutating func text() -> String {
    switch random.int(0...3) {
    case 0:
      return random.pick([
        "", "\0", "\0\0", "a", "a\0", "a\0b", "a\u{1}", "ab", "é", "e\u{301}", "\u{10FFFF}", "\u{FFFF}",
      ])
    case 1: return random.text(0...12)
    default: return random.pick(["", "a", "a\0"]) + random.text(0...2)
    }
  }

  mutating func bytes() -> [UInt8] {
    (0..<random.int(0...5)).map { _ in random.pick([0, 0, 1, 0x7F, 0x80, 0xFE, 0xFF, 0xFF]) }
  }

  mutating func decimal() -> Decimal {
    switch random.int(0...4) {
    case 0: return .nan
    case 1: return random.pick([0, 1, -1, 10, 100, -100])
    case 2: return Decimal(Int64.random(in: .min ... .max, using: &random))
    default:
      let digits = Decimal(Int64.random(in: -9_999_999...9_999_999, using: &random))
      return digits * (pow(10, 6) as Decimal) / pow(10, random.int(0...12))
    }
  }
}
