extension ScalarSet {
  /// The set for `\p{…}`: a general category by its one- or two-letter name, or `Any`.
  ///
  /// As in RE2, no category contains unassigned scalars (`Cn`); `\PL` and `[^\pL]` do.
  static func named(_ name: String) -> ScalarSet? {
    if name == "Any" { return any }
    if name == "Cs" { return ScalarSet([]) }  // Surrogates are not scalars.
    let members = categories.filter { $0.key == name || (name.utf8.count == 1 && $0.key.hasPrefix(name)) }
    return members.isEmpty ? nil : ScalarSet(members.values.flatMap { $0 })
  }

  /// The ranges of each two-letter category, read once from the standard library.
  ///
  /// The loop skips planes 4 to 13, which are unassigned, and the private planes 15 and 16.
  private static let categories: [String: [Range]] = {
    var ranges: [String: [Range]] = ["Co": [Range(0xF0000, 0xFFFFD), Range(0x100000, 0x10FFFD)]]
    var open: (name: String?, first: UInt32) = (nil, 0)
    func close(before value: UInt32) {
      if let name = open.name { ranges[name, default: []].append(Range(open.first, value - 1)) }
    }
    for block in [UInt32(0)..<0x40000, 0xE0000..<0xF0000] {
      var previous: Unicode.GeneralCategory?
      open = (nil, block.lowerBound)
      for value in block {
        let category = Unicode.Scalar(value)?.properties.generalCategory
        if value > block.lowerBound, category == previous { continue }
        close(before: value)
        open = (category.flatMap(abbreviation), value)
        previous = category
      }
      close(before: block.upperBound)
    }
    return ranges
  }()

  /// The two-letter name of a category; nil for unassigned scalars.
  private static func abbreviation(_ category: Unicode.GeneralCategory) -> String? {
    switch category {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .privateUse: "Co"
    case .surrogate: "Cs"
    case .unassigned: nil
    @unknown default: nil
    }
  }
}
