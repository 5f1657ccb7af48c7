import Foundation

/// A decoder that makes up a value whose parts differ, and records the members of its outermost object.
struct DocumentSampler: Decoder {
  /// The recorded members.
  final class Keys {
    fileprivate(set) var members: [(name: String, type: (any Decodable.Type)?, text: String?)] = []
    fileprivate(set) var allows: (String) -> Bool = { _ in false }
    /// The number of the last made-up part, which differs from all others.
    fileprivate var number = 0
    /// The bit of the number that chooses among few values: two parts differ in one of the variants.
    private let shift: Int

    fileprivate init(variant: Int) {
      // In one of the second and third variants, every choice differs from that in the first: their numbers are odd and
      // prime. Types that refuse large numbers may take the smaller one.
      number = variant == 1 ? 3 : variant == 2 ? 1009 : 0
      shift = max(0, variant - 2)
    }

    fileprivate var choice: Int { number >> shift }
  }

  private static let depthLimit = 16
  /// The last variant with other numbers than the first one.
  static let lastOtherNumbers = 2
  /// The number of variants, in which parts and choices differ.
  static let variants = 10

  let keys: Keys
  private let depth: Int

  init(variant: Int) { self.init(Keys(variant: variant), depth: 0) }

  private init(_ keys: Keys, depth: Int) {
    self.keys = keys
    self.depth = depth
  }

  /// The JSON of a value; nil if it cannot be encoded.
  static func text(_ value: Any) -> String? {
    guard let value = value as? any Encodable else { return nil }
    return (try? DocumentCoding.encode(value)) ?? nil
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if depth == 0 { keys.allows = { Key(stringValue: $0)?.stringValue == $0 } }
    return KeyedDecodingContainer(Members(sampler: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { Elements(sampler: self) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(sampler: self) }

  private var inner: DocumentSampler { DocumentSampler(keys, depth: depth + 1) }

  private func make<Value: Decodable>(_ type: Value.Type) throws -> Value {
    keys.number += 1
    let number = keys.number
    let candidates: [Any] = [
      "\(number)", number, Double(number), Float(number), keys.choice.isMultiple(of: 2),
      Int8(truncatingIfNeeded: number), Int16(truncatingIfNeeded: number), Int32(truncatingIfNeeded: number),
      Int64(number), UInt8(truncatingIfNeeded: number), UInt16(truncatingIfNeeded: number),
      UInt32(truncatingIfNeeded: number), UInt64(number), UInt(number), Decimal(number), UUID(),
      Data("\(number)".utf8), Date(timeIntervalSinceReferenceDate: Double(number)),
      URL(filePath: "/\(number)"),
    ]
    for case let value as Value in candidates { return value }
    if let cases = type as? any CaseIterable.Type, let value = choose(of: cases) as? Value {
      return value
    }
    guard depth < Self.depthLimit else { throw failure("nested too deep") }
    return try Value(from: inner)
  }

  private func choose<Cases: CaseIterable>(of type: Cases.Type) -> Any? {
    let cases = Array(type.allCases)
    return cases.isEmpty ? nil : cases[keys.choice % cases.count]
  }

  private func failure(_ reason: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: reason))
  }

  private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let sampler: DocumentSampler

    var codingPath: [any CodingKey] { [] }
    /// One key of a dictionary; none of a type whose keys are cases.
    var allKeys: [Key] {
      sampler.keys.number += 1
      return [Key(stringValue: "\(sampler.keys.number)")].compactMap(\.self)
    }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { sampler.depth >= depthLimit }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      guard sampler.depth == 0 else { return try sampler.make(type) }
      let keys = sampler.keys
      keys.members.append((key.stringValue, type, nil))
      let position = keys.members.count - 1
      let value = try sampler.make(type)
      keys.members[position].text = DocumentSampler.text(value)
      return value
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
      -> KeyedDecodingContainer<Nested>
    { try sampler.inner.container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try sampler.inner.unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { sampler.inner }
    func superDecoder(forKey key: Key) throws -> any Decoder { sampler.inner }
  }

  /// Two elements, so that an array is not empty and a dictionary has one key and one value.
  private struct Elements: UnkeyedDecodingContainer {
    let sampler: DocumentSampler
    private(set) var currentIndex = 0

    init(sampler: DocumentSampler) { self.sampler = sampler }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    var isAtEnd: Bool { currentIndex == (sampler.depth < 4 ? 2 : 0) }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      currentIndex += 1
      return try sampler.make(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws
      -> KeyedDecodingContainer<Nested>
    {
      currentIndex += 1
      return try sampler.inner.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      currentIndex += 1
      return try sampler.inner.unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { sampler.inner }
  }

  private struct Single: SingleValueDecodingContainer {
    let sampler: DocumentSampler

    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try sampler.make(type) }
  }
}
