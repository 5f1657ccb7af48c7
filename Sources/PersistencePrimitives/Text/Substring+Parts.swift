extension Substring {
  /// The parts between marks, which are found by their bytes: also before a scalar that would combine with a mark to
  /// one character.
  ///
  /// - Parameters:
  ///   - mark: A mark of ASCII.
  ///   - maxSplits: How many marks are taken for marks at most.
  ///   - omittingEmpty: Whether empty parts are left out.
  /// - Returns: The parts, at least one where none is left out.
  package func parts(_ mark: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = false)
    -> [Substring]
  {
    utf8.split(
      separator: UInt8(ascii: mark), maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty
    ).map(Substring.init)
  }
}
