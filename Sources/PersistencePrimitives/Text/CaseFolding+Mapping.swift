extension CaseFolding {
  /// The Unicode version of the standard library's data, such as `17.0`: the newest age of any scalar.
  ///
  /// The first access computes it, in some tens of milliseconds. An index that depends on the mapping
  /// compares ``mappingFingerprint`` instead, since most Unicode versions do not change most mappings.
  public static let unicodeVersion: String = {
    var newest: Unicode.Version = (0, 0)
    for scalar in allScalars {
      if let age = scalar.properties.age, age > newest { newest = age }
    }
    return "\(newest.major).\(newest.minor)"
  }()

  /// A hash over all scalars with a lower-case mapping, and their mappings.
  ///
  /// Equal mappings have equal hashes on every platform (FNV-1a, 64 bits, over ascending scalar values). The
  /// first access computes it, in some tens of milliseconds.
  public static let mappingFingerprint: UInt64 = {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ value: UInt32) {
      for shift in stride(from: UInt32(0), to: 32, by: 8) {
        hash = (hash ^ UInt64(value >> shift & 0xFF)) &* 0x0000_0100_0000_01B3
      }
    }
    for scalar in allScalars {
      let mapping = scalar.properties.lowercaseMapping.unicodeScalars
      if mapping.count == 1, mapping.first == scalar { continue }
      add(scalar.value)
      for mapped in mapping { add(mapped.value) }
      add(.max)
    }
    return hash
  }()

  /// Marks a scalar whose mapping has several scalars.
  static let expands = UInt32.max

  /// A scalar's lower-case mapping if it has one scalar, otherwise ``expands``.
  static func lowercased(scalar: UInt32) -> UInt32 {
    if scalar < lowMappings.count { return lowMappings[Int(scalar)] }
    return isInCaselessBlock(scalar) ? scalar : readMapping(scalar)
  }

  /// Latin, Greek, Cyrillic and Armenian: most mapped text.
  static let lowMappings: [UInt32] = (0..<0x590).map(readMapping)

  /// Whether a scalar belongs to an East Asian script, which has no case and needs no lookup.
  private static func isInCaselessBlock(_ scalar: UInt32) -> Bool {
    scalar &- 0x2E80 < 0xA640 - 0x2E80 || scalar &- 0xAC00 < 0xD800 - 0xAC00
  }

  private static func readMapping(_ value: UInt32) -> UInt32 {
    guard let scalar = Unicode.Scalar(value) else { return value }
    let mapping = scalar.properties.lowercaseMapping.unicodeScalars
    guard let first = mapping.first else { return expands }
    return mapping.count == 1 ? first.value : expands
  }

  private static var allScalars: some Sequence<Unicode.Scalar> {
    (UInt32(0)...0x10FFFF).lazy.compactMap(Unicode.Scalar.init)
  }

  /// A scalar and the different scalar that it maps to.
  struct Pair: Sendable {
    let upper: UInt32
    let lower: UInt32
  }

  /// Every pair of the mapping, sorted by the upper-case scalar, without mappings to several scalars.
  ///
  /// Only planes 0 and 1 have case: the others contain ideographs and private use.
  static let pairs: [Pair] = (UInt32(0)..<0x20000).compactMap { upper in
    let lower = readMapping(upper)
    return lower == upper || lower == expands ? nil : Pair(upper: upper, lower: lower)
  }

  private static let uppersByLower: [UInt32: [UInt32]] = Dictionary(grouping: pairs, by: \.lower)
    .mapValues { $0.map(\.upper) }

  /// All scalars with the same lower-case form as a scalar in `set`.
  ///
  /// A scalar whose mapping is several scalars long counts as its own lower-case form.
  static func closure(of set: ScalarSet) -> ScalarSet {
    if let scalar = set.onlyScalar {
      let mapped = lowercased(scalar: scalar)
      let lower = mapped == expands ? scalar : mapped
      return ScalarSet(
        (uppersByLower[lower] ?? []).map { .init($0, $0) } + [.init(lower, lower), .init(scalar, scalar)])
    }
    var ranges = set.ranges
    for pair in pairs where set.contains(pair.upper) { ranges.append(.init(pair.lower, pair.lower)) }
    let withLowers = ScalarSet(ranges)
    ranges = withLowers.ranges
    for pair in pairs where withLowers.contains(pair.lower) { ranges.append(.init(pair.upper, pair.upper)) }
    return ScalarSet(ranges)
  }
}
