import Foundation
import PersistenceDriver

/// A file with a line of JSON for each record that was put aside.
public struct MigrationRejectFile: MigrationRejectSink {
  /// The file.
  public let path: String

  /// Names a file; it is written when the migration begins.
  ///
  /// - Parameter path: The file.
  public init(path: String) { self.path = path }

  /// Writes the file anew.
  public func begin(with rejects: [MigrationReject]) throws {
    try write(rejects, O_CREAT | O_TRUNC)
  }

  /// Writes lines at the end of the file.
  public func add(_ rejects: [MigrationReject]) throws {
    try write(rejects, O_CREAT | O_APPEND)
  }

  private func write(_ rejects: [MigrationReject], _ flags: Int32) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var data = Data()
    for reject in rejects { data += try encoder.encode(reject) + [UInt8(ascii: "\n")] }
    let file = open(path, O_WRONLY | O_CLOEXEC | flags, 0o600)
    guard file >= 0 else { throw PersistenceError.system(errno, while: "write the rejects to", at: path) }
    let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
    do {
      try handle.write(contentsOf: data)
      try handle.synchronize()
    } catch {
      throw PersistenceError(.inputOutput, "could not write the rejects to \(path): \(error)", location: path)
    }
  }
}
