import PersistenceDriver

extension Capabilities {
  /// What LMDB can do: keys of any length up to a gigabyte work, since long ones are cut and looked up by digest.
  static func lmdb(isReadOnly: Bool) -> Capabilities {
    Capabilities(
      isDurable: true, isMultiProcess: true, isReadOnly: isReadOnly, datePrecision: .exact, largestKey: nil,
      largestValue: Int(UInt32.max) - (1 << 20), evaluatesPredicates: true, hasSecondaryIndexes: true)
  }
}
