import Foundation

/// A file that comes into being whole or not at all: written beside its place, then moved there.
///
/// What is there and is no file, such as a pipe or a terminal, is written to as it stands.
final class FileReplacement {
  private let path: String
  private let temporary: String?
  private let descriptor: Int32
  private var isOpen = true

  /// Begins a file; one that is never finished leaves nothing.
  ///
  /// - Parameters:
  ///   - path: Where it will be.
  ///   - replacesExisting: Whether a file that is there is replaced; otherwise it is an error.
  /// - Throws: ``ToolFailure``.
  init(_ path: String, replacesExisting: Bool) throws {
    self.path = path
    if !replacesExisting { try Self.requireNone(at: path) }
    if FileLocation(path).isSpecial {
      temporary = nil
      descriptor = open(path, O_WRONLY | O_CLOEXEC)
    } else {
      let beside = "\(path).\(getpid()).tmp"
      temporary = beside
      descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    }
    guard descriptor >= 0 else {
      isOpen = false
      throw Self.failure(path)
    }
  }

  deinit { abandon() }

  /// Whether the folder is there in which a file is to be, so that a command can refuse before it does anything.
  static func canBeMade(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard !path.isEmpty, FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
      isFolder.boolValue
    else { return false }
    return !(FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue)
  }

  /// Refuses a path where there is a file.
  ///
  /// - Throws: ``ToolFailure``.
  static func requireNone(at path: String) throws {
    guard !FileManager.default.fileExists(atPath: path) || FileLocation(path).isSpecial else {
      throw ToolFailure.usage("\(path) exists; --force replaces it")
    }
  }

  private static func failure(_ path: String) -> ToolFailure {
    ToolFailure.inputOutput("\(path) could not be written: \(FileDescriptor.lastError)")
  }

  /// Writes bytes.
  func write(_ bytes: UnsafeRawBufferPointer) throws {
    guard FileDescriptor.put(bytes, into: descriptor) else { throw Self.failure(path) }
  }

  /// Writes text.
  func write(_ text: String) throws { try Array(text.utf8).withUnsafeBytes { try write($0) } }

  /// Runs a closure that writes, and moves the file to its place; where the closure throws, there is none.
  ///
  /// - Parameters:
  ///   - companion: A file that belongs to the one that is replaced, and goes before that does.
  ///   - body: What writes.
  /// - Returns: What the closure returns.
  /// - Throws: ``ToolFailure``, and what the closure throws.
  func finishing<Result>(removing companion: String? = nil, _ body: () throws -> Result) throws -> Result {
    guard isOpen else { throw ToolFailure.inputOutput("\(path) has been finished already") }
    defer { abandon() }
    let result = try body()
    guard let temporary else { return result }
    guard fsync(descriptor) == 0 else { throw Self.failure(path) }
    if let companion, unlink(companion) != 0, errno != ENOENT { throw Self.failure(companion) }
    guard rename(temporary, path) == 0 else { throw Self.failure(path) }
    close(descriptor)
    isOpen = false
    return result
  }

  private func abandon() {
    guard isOpen else { return }
    isOpen = false
    close(descriptor)
    if let temporary { unlink(temporary) }
  }
}
