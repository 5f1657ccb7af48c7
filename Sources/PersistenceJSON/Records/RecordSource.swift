import PersistenceDriver

/// A source of record files: a pinned version, or a transaction.
protocol RecordSource: AnyObject {
  var store: StoreFolder { get }

  /// The version of the store that the source shows.
  var version: UInt64 { get throws }

  /// The names of all files in a folder, unordered.
  func names(in folder: String) throws -> [String]

  /// The text of a file; nil if there is none.
  func read(_ file: String, in folder: String) throws -> FileText?

  /// The number of files that may be read ahead of their use; 1 if their texts can change until then.
  var readAhead: Int { get }

  /// The texts of the first of several files, at least of one, each as ``read(_:in:)``.
  ///
  /// - Throws: Only the error of the first file.
  func texts(of files: [String], in folder: String) throws -> [FileText?]

  /// Whether ``names(in:)`` contains a file.
  func exists(_ file: String, in folder: String) throws -> Bool

  /// The status of the file that ``read(_:in:)`` would read now; nil if its text is not in the folder.
  func status(of file: String, in folder: String) throws -> FileStatus?

  /// The statuses of several files, each as ``status(of:in:)``.
  func statuses(of files: [String], in folder: String) throws -> [FileStatus?]
}

/// The text of a file, and its status.
struct FileText {
  var bytes: [UInt8]
  /// The status of the file; nil if the text cannot change.
  var status: FileStatus?
  /// The status of the file of the text, also if the file is in the history; nil if no file has the text yet.
  var written: FileStatus?

  init(bytes: [UInt8], status: FileStatus? = nil, written: FileStatus? = nil) {
    self.bytes = bytes
    self.status = status
    self.written = written ?? status
  }

  /// A hash of the status; nil if the text cannot change.
  var stamp: UInt64? { status?.stamp }
}

extension RecordSource {
  var readAhead: Int { 1 }

  func texts(of files: [String], in folder: String) throws -> [FileText?] {
    try files.prefix(1).map { try read($0, in: folder) }
  }

  func statuses(of files: [String], in folder: String) throws -> [FileStatus?] {
    try files.map { try status(of: $0, in: folder) }
  }

  /// The text of a file from `names(in:)`, which must still exist.
  func readListed(_ file: String, in folder: String) throws -> FileText {
    guard let text = try read(file, in: folder) else {
      throw PersistenceError.changedByHand(file, in: folder)
    }
    return text
  }
}

extension PersistenceError {
  /// The error for a file that was edited while a result or transaction uses it (contract R2).
  static func changedByHand(_ file: String, in folder: String) -> PersistenceError {
    PersistenceError(
      .changedOutside,
      "the file \(folder)/\(file) was changed by hand while a result or transaction was using it; "
        + "fetch again")
  }
}
