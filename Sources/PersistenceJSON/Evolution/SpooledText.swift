import Foundation
import PersistenceDriver

/// The file in which a transaction keeps the new texts of a rewritten model, so that they need no memory.
///
/// Its name is removed at once, so that it ends with the process.
final class Spool {
  private static let name = "spool"
  private let file: File
  private var end = 0

  init(_ store: StoreFolder) throws {
    let stage = try store.control.makeFolder(Journal.stageName)
    guard let file = try stage.open(Self.name, O_RDWR | O_CREAT | O_TRUNC) else {
      throw SystemFailure("open the file", stage.path(of: Self.name))
    }
    self.file = file
    try stage.remove(Self.name)
  }

  /// Writes a text to the end.
  func add(_ text: [UInt8]) throws -> SpooledText {
    try file.write(text, at: end)
    defer { end += text.count }
    return SpooledText(file: file, start: end, count: text.count)
  }
}

/// A text in a ``Spool``.
struct SpooledText {
  fileprivate let file: File
  fileprivate let start: Int
  fileprivate let count: Int

  func read() throws -> [UInt8] { try file.read(count, at: start) }
}
