import Foundation

/// A file that comes into being whole or not at all: written beside its place, then moved there.
final class FileReplacement {
  private let path: String
  private let temporary: String
  private let descriptor: Int32
  private var isOpen = true

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - path: Where it will be.
  ///   - replacesExisting: Whether a file that is there is replaced; otherwise it is an error.
  /// - Throws: ``ToolFailure``.
  init(_ path: String, replacesExisting: Bool) throws {
    self.path = path
    if !replacesExisting, FileManager.default.fileExists(atPath: path) {
      throw ToolFailure.usage("\(path) exists; --force replaces it")
    }
    temporary = "\(path).\(getpid()).tmp"
    descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Self.failure(path) }
  }

  /// Whether the folder is there in which a file is to be, so that a command can refuse before it does anything.
  static func canBeMade(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      return false
    }
    return !(FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue)
  }

  private static func failure(_ path: String) -> ToolFailure {
    ToolFailure.inputOutput("\(path) could not be written: \(FileDescriptor.lastError)")
  }

  /// Writes bytes.
  func write(_ bytes: UnsafeRawBufferPointer) throws {
    guard FileDescriptor.put(bytes, into: descriptor) else { throw Self.failure(path) }
  }

  /// Runs a closure that writes, and moves the file to its place; where the closure throws, there is none.
  func finishing<Result>(_ body: () throws -> Result) throws -> Result {
    guard isOpen else { throw ToolFailure.inputOutput("\(path) has been finished already") }
    isOpen = false
    do {
      let result = try body()
      guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw Self.failure(path) }
      close(descriptor)
      return result
    } catch {
      close(descriptor)
      unlink(temporary)
      throw error
    }
  }
}
