extension String {
  /// The text with a quotation mark written twice wherever it stands, also before a scalar that would combine with
  /// it to one character.
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
