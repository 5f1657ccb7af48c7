import PersistenceDriver

/// Where the files of records are read: a pinned version, or the inside of a transaction.
protocol RecordSource: AnyObject {
  /// The store that the files are of.
  var store: StoreFolder { get }

  /// The names of all files in a folder, in no order.
  func names(in folder: String) throws -> [String]

  /// The text of a file; nil where there is none.
  func read(_ file: String, in folder: String) throws -> FileText?

  /// Whether ``names(in:)`` has a file.
  func exists(_ file: String, in folder: String) throws -> Bool

  /// The status of the file that ``read(_:in:)`` would read now; nil where it has to be read, since it is gone, or is
  /// not what stands in the folder.
  func status(of file: String, in folder: String) throws -> FileStatus?
}

/// The text of a file, and what tells whether another reading found the same.
struct FileText {
  var bytes: [UInt8]
  /// The status of the file that was read; nil where the text cannot change any more.
  var status: FileStatus?

  /// The status in a word; nil where there is none.
  var stamp: UInt64? { status?.stamp }
}

extension RecordSource {
  /// The text of a file that `names(in:)` gave, which must still be there.
  func readListed(_ file: String, in folder: String) throws -> FileText {
    guard let text = try read(file, in: folder) else {
      throw PersistenceError.changedByHand(file, in: folder)
    }
    return text
  }
}

extension PersistenceError {
  /// A file that a person changed while something that shows it was alive (contract R2).
  static func changedByHand(_ file: String, in folder: String) -> PersistenceError {
    PersistenceError(
      .changedOutside,
      "the file \(folder)/\(file) was changed by hand while a result or transaction that shows it was alive; "
        + "fetch anew")
  }
}
