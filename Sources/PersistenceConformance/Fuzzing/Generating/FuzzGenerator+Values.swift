import Foundation
import PersistenceCore

extension FuzzGenerator {
  private static let longTexts: [String] = [509, 510, 511, 512, 513, 1000].flatMap { count in
    let run = String(repeating: "a", count: count)
    return [run, run + "b", "b" + run]
  }

  private static let doubles: [Double] = [
    0, -0.0, 1, -1, 0.1, 0.1.nextUp, 0.1.nextDown, 1.5, -1.5, .infinity, -.infinity, .nan, .nan, .nan,
    .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude,
    -.greatestFiniteMagnitude, 9_007_199_254_740_992, 9_007_199_254_740_994, 1e16, 1e300, 3, 100,
  ]
  private static let floats: [Float] = [
    0, -0.0, 1, -1, 0.1, Float(0.1).nextUp, .infinity, -.infinity, .nan, .leastNonzeroMagnitude,
    .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 16_777_216, 2,
  ]
  private static let dates: [Double] = [
    0, -0.0, 1, -1, 0.1, 0.1.nextUp, 781_234_567.123_456_7, 781_234_567.123_456_7.nextUp,
    781_234_567.123_456_7.nextDown, -978_307_200, -63_114_076_800, 1e15, .infinity, -.infinity, .nan, 86_400,
    .greatestFiniteMagnitude, .leastNonzeroMagnitude,
  ]
  private static let roundDates: [Double] = [0, 1, -1, 86_400, 781_234_567, -978_307_200, 60, 3600]
  private static let decimals: [Decimal] =
    [
      "0", "1", "-1", "0.1", "0.10", "0.10000000000000000000000000000000000001", "9", "10", "-10", "-9.5",
      "10.5", "9007199254740993", "9007199254740992", "12345678901234567890.123456789012345678",
      "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "1e100", "1e-100",
      "-1e-100", "100", "1e2", "0.00000000000000000000000000000000000001",
    ].compactMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) } + [.nan]
  private static let blobs: [[UInt8]] = [
    [], [0], [0, 0], [0, 1], [1], [0, 255], [255], [255, 0], [255, 255], [127], [128], Array("a".utf8),
    Array("NaN".utf8), [UInt8](repeating: 255, count: 511), [UInt8](repeating: 255, count: 512),
    [UInt8](repeating: 0, count: 1000),
  ]
  /// Canonical JSON; some documents are equal as values but differ as text, which the contract distinguishes.
  private static let documents = [
    "null", "true", "[]", "{}", "\"\"", "\"a\"", "1", "1.0", "10", "9007199254740993", "[1,2]", "[2,1]",
    "{\"a\":9007199254740993}", "{\"a\":9223372036854775807}", "{\"a\":12345678901234567}",
    "{\"b\":-1234567890123456789}", "[-9007199254740993]", "{\"a\":1}", "{\"a\":1.0}", "{\"a\":2}",
    "{\"a\":1,\"b\":2}", "\"\u{E9}\"", "\"e\u{301}\"", "{\"a\":null}", "[[1],[]]", "\"\\u0000\"", "\"\\n\"",
    "[\"%\",\"_\"]", "{\"a\":{\"b\":1,\"c\":\"a\"}}", "{\"a\":{\"b\":1.5,\"c\":[1,\"a\"]},\"b\":{\"a\":0}}",
    "{\"a\":{\"b\":\"NaN\"}}", "{\"a\":\"Infinity\"}", "{\"A\":\"a\",\"a\":[{\"b\":1},1.0,null]}",
    "{\"\":true,\"a\":\"\\\"b\\\"\"}",
    "{\"a\":false,\"n\":-1}", "[1.0,\"a\",null,[1]]", "[1]", "[2]", "[2,1.0]", "{\"a\":[2,1]}",
  ]
  private static let urls = [
    "https://example.org", "https://example.org/", "HTTPS://example.org", "a", "file:///tmp/a%20b", "urn:x:y",
    "https://example.org/%C3%A9?q=%25", "mailto:a@b",
  ]
  private static let ids: [UUID] = [
    "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001",
    "7FFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "80000000-0000-0000-0000-000000000000",
    "00000000-0000-0000-8000-000000000000", "00000000-0000-0000-7FFF-FFFFFFFFFFFF",
    "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "0000007B-0000-0000-0000-000000000000",
  ].compactMap(UUID.init(uuidString:))

  mutating func pool(_ kind: FieldKind, _ count: Int) -> [PersistentValue] {
    if kind == .string { return texts(count, share: 85).map { .text($0) } }
    return (0..<count).map { $0 < 24 && chance(70) ? nasty(kind) : Self.plain(kind, $0) }
  }

  mutating func keyPool(_ kind: FieldKind, _ count: Int) -> [PersistentValue] {
    let share = random.pick([10, 40, 70])
    let values: [PersistentValue] =
      kind == .string
      ? texts(count, share: share).map { .text($0) }
      : (0..<count).map { $0 < 40 && chance(share) ? nasty(kind) : Self.plain(kind, $0) }
    return values.enumerated().map { isWithin($1, limits.largestKey) ? $1 : Self.plain(kind, $0) }
  }

  /// A text with a length near engine limits.
  mutating func longText() -> String { random.pick(Self.longTexts) }

  private func isWithin(_ value: PersistentValue, _ limit: Int) -> Bool {
    switch value {
    case .text(let text), .document(let text): text.utf8.count <= limit
    case .bytes(let bytes): bytes.count <= limit
    default: true
    }
  }

  /// A value that stores often keep, compare or sort wrongly.
  private mutating func nasty(_ kind: FieldKind) -> PersistentValue {
    let value: PersistentValue
    switch kind {
    case .bool: value = .bool(chance(50))
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      let range = kind.integerRange ?? 0...0
      var edges = [range.lowerBound, range.upperBound, range.lowerBound + 1, range.upperBound - 1, 0, 1, 2]
      if range.lowerBound < 0 { edges.append(-1) }
      if kind == .int64 {
        edges += [1 << 53, (1 << 53) + 1, (1 << 53) - 1, -(1 << 53) - 1, 1 << 31, 1 << 32]
      }
      value = .integer(random.pick(edges))
    case .float: value = .double(Double(random.pick(Self.floats)))
    case .double: value = .double(random.pick(Self.doubles))
    case .string: value = .text(random.pick(Self.longTexts))
    case .data: value = .bytes(random.pick(Self.blobs))
    case .date: value = .date(random.pick(limits.hasExactDates ? Self.dates : Self.roundDates))
    case .uuid: value = .uuid(random.pick(Self.ids))
    case .url: value = .text(random.pick(Self.urls))
    case .decimal: value = .decimal(random.pick(Self.decimals))
    case .document: value = .document(random.pick(Self.documents))
    }
    return isWithin(value, limits.largestValue) ? value : Self.plain(kind, 0)
  }

  /// A value that is equal for equal numbers.
  static func plain(_ kind: FieldKind, _ number: Int) -> PersistentValue {
    switch kind {
    case .bool: return .bool(number % 2 == 0)
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      let range = kind.integerRange ?? 0...0
      return .integer(Int64(number) % (range.upperBound == .max ? .max : range.upperBound + 1))
    case .float, .double: return .double(Double(number) / 4 - 2)
    case .string: return .text((number % 3 == 0 ? "a" : "") + "\(number)")
    case .data: return .bytes([UInt8(number % 256), UInt8(number / 256 % 256)])
    case .date: return .date(Double(number) * 60)
    case .uuid: return id(number)
    case .url: return .text("https://example.org/\(number)")
    case .decimal: return .decimal(Decimal(number) / 8)
    case .document: return .document("{\"n\":\(number)}")
    }
  }

  static func id(_ number: Int) -> PersistentValue {
    let (high, low) = (UInt8(number / 256 % 256), UInt8(number % 256))
    return .uuid(UUID(uuid: (high, low, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, low, high)))
  }

  /// A value for a field; often nil if the field is optional.
  mutating func value(_ model: Int, _ position: Int) -> PersistentValue {
    if models[model].schema.fields[position].isOptional, chance(25) { return .null }
    return random.pick(models[model].pools[position])
  }

  mutating func row(_ model: Int, key: [PersistentValue]? = nil) -> [PersistentValue] {
    let schema = models[model].schema
    let key = key ?? random.pick(models[model].keys)
    var row = schema.fields.indices.map { value(model, $0) }
    for (name, value) in zip(schema.key, key) {
      if let position = FuzzReference.position(of: name, in: schema.fields) { row[position] = value }
    }
    return row
  }
}
