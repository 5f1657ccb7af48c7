import Foundation
public import PersistenceDriver

/// A record that a migration rejected.
public struct MigrationReject: Sendable, Hashable, Codable {
  /// The model's name in the source.
  public var model: String
  /// The number of records of the model before it in the source, in key order.
  public var position: Int
  /// The key, if it could be read, and takes at most 64 KiB as JSON.
  public var key: RecordKey?
  /// The stable code of the reason: the raw value of a ``PersistenceError/Code``.
  public var code: String
  /// The reason, as text of at most 64 KiB.
  ///
  /// A longer one is cut, and ends with its full size.
  public var reason: String
  /// The values by field name, as JSON of at most 64 KiB; nil if the record could not be read.
  ///
  /// A text that says so, with the size, stands for a value that exceeds the limit.
  public var record: String?
}

/// A receiver of the records that a migration rejects.
///
/// Until it is published, a migration keeps its rejects in the destination, in the transactions of their
/// batches. So a sink receives each committed reject exactly once, even if the migration is interrupted.
public protocol MigrationRejectSink: Sendable {
  /// Starts with the rejects of previous runs; the sink discards its old content.
  ///
  /// A migration that does not resume calls it before it writes anything. If the call throws, the destination is
  /// unchanged.
  ///
  /// - Throws: An error that stops the migration, which can be resumed.
  func begin(with rejects: [MigrationReject]) throws

  /// Adds the rejects of a batch.
  ///
  /// - Throws: An error that stops the migration, which can be resumed.
  func add(_ rejects: [MigrationReject]) throws
}

/// A file with one line of JSON for each rejected record.
public struct MigrationRejectFile: MigrationRejectSink {
  /// The path of the file.
  public let path: String

  /// Makes a sink; the migration creates the file before it writes to the destination.
  ///
  /// - Parameter path: The file.
  public init(path: String) { self.path = path }

  /// Replaces the content of the file.
  public func begin(with rejects: [MigrationReject]) throws {
    try write(rejects, O_CREAT | O_TRUNC)
  }

  /// Appends lines to the file.
  public func add(_ rejects: [MigrationReject]) throws {
    try write(rejects, O_CREAT | O_APPEND)
  }

  private func write(_ rejects: [MigrationReject], _ flags: Int32) throws {
    let lines = try rejects.map { try Ledger.text($0) + "\n" }
    let file = open(path, O_WRONLY | O_CLOEXEC | flags, 0o600)
    guard file >= 0 else { throw PersistenceError.system(errno, while: "write the rejects to", at: path) }
    let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
    do {
      try handle.write(contentsOf: Data(lines.joined().utf8))
      try handle.synchronize()
    } catch {
      throw PersistenceError(.inputOutput, "could not write the rejects to \(path): \(error)", location: path)
    }
  }
}
