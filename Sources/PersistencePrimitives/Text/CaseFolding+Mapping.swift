extension CaseFolding {
  /// The Unicode version of the standard library's data, such as `17.0`: the newest age of any scalar.
  ///
  /// Computed once, when first read, in some tens of milliseconds. An index that must be rebuilt when the
  /// mapping changes compares ``mappingFingerprint``, since most Unicode versions leave most mappings as
  /// they were.
  public static let unicodeVersion: String = {
    var newest: Unicode.Version = (0, 0)
    for scalar in allScalars {
      if let age = scalar.properties.age, age > newest { newest = age }
    }
    return "\(newest.major).\(newest.minor)"
  }()

  /// A hash over every scalar that has a lower-case mapping of its own, and that mapping.
  ///
  /// The same on every platform and run that maps alike (FNV-1a, 64 bits, over the scalar values in ascending
  /// order). Computed once, when first read, in some tens of milliseconds.
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

  /// Stands for "this scalar's mapping is several scalars long".
  static let expands = UInt32.max

  /// One scalar's lower-case mapping where that is one scalar, ``expands`` where it is several.
  static func lowercased(scalar: UInt32) -> UInt32 {
    if scalar < lowMappings.count { return lowMappings[Int(scalar)] }
    return isInCaselessBlock(scalar) ? scalar : readMapping(scalar)
  }

  /// Latin, Greek, Cyrillic and Armenian, where most mapped text is.
  static let lowMappings: [UInt32] = (0..<0x590).map(readMapping)

  /// Whether a scalar is in the blocks of East Asian scripts, which have no case and need no look-up.
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

  /// A scalar and the other scalar that it is mapped to.
  struct Pair: Sendable {
    let upper: UInt32
    let lower: UInt32
  }

  /// Every pair in the mapping, by ascending upper scalar; the mappings to several scalars are not among
  /// them.
  ///
  /// Only planes 0 and 1 are read: the others hold ideographs and private use, which have no case.
  static let pairs: [Pair] = (UInt32(0)..<0x20000).compactMap { upper in
    let lower = readMapping(upper)
    return lower == upper || lower == expands ? nil : Pair(upper: upper, lower: lower)
  }

  private static let uppersByLower: [UInt32: [UInt32]] = Dictionary(grouping: pairs, by: \.lower)
    .mapValues { $0.map(\.upper) }

  /// All scalars whose lower-case form is that of a scalar in `set`.
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
