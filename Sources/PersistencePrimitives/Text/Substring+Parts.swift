extension Substring {
  /// Splits at an ASCII separator by its byte, so that a combining scalar after the separator does not hide it.
  package func parts(_ mark: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = false)
    -> [Substring]
  {
    utf8.split(
      separator: UInt8(ascii: mark), maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty
    ).map(Substring.init)
  }
}

extension String {
  /// Doubles each quotation mark, including one before a combining scalar.
  package func doubling(_ mark: Unicode.Scalar) -> String {
    guard unicodeScalars.contains(mark) else { return self }
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalar == mark { scalars.append(mark) }
      scalars.append(scalar)
    }
    return String(scalars)
  }
}
