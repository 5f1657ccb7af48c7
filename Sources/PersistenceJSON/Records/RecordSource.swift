import PersistenceDriver

/// Where the files of records are read: a pinned version, or the inside of a transaction.
protocol RecordSource: AnyObject {
  /// The names of all files in a folder, in no order.
  func names(in folder: String) throws -> [String]

  /// The text of a file; nil where there is none.
  func read(_ file: String, in folder: String) throws -> [UInt8]?

  /// The text of a file that `names(in:)` gave.
  func readListed(_ file: String, in folder: String) throws -> [UInt8]
}
