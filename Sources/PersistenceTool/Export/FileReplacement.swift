import Foundation

/// An atomic replacement of a file: it is written next to its destination, and then moved there.
///
/// The new file has the permissions of the one that it replaces. A destination that is not a regular file, such as a pipe
/// or a terminal, is written directly.
final class FileReplacement {
  private let path: String
  private let temporary: String?
  private let descriptor: Int32
  private var isOpen = true

  /// Starts a file; one that is never finished leaves nothing.
  ///
  /// - Throws: ``ToolFailure``, also if the file exists and is not to be replaced.
  init(_ path: String, replacesExisting: Bool) throws {
    self.path = path
    if !replacesExisting { try Self.requireAbsence(at: path) }
    if FileLocation(path).isSpecial {
      temporary = nil
      descriptor = open(path, O_WRONLY | O_CLOEXEC)
    } else {
      let beside = "\(path).\(getpid()).tmp"
      temporary = beside
      let mode = Self.mode(of: path)
      descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode ?? 0o644)
      if descriptor >= 0, let mode, fchmod(descriptor, mode) != 0 {
        let failure = Self.failure(path)
        abandon()
        throw failure
      }
    }
    guard descriptor >= 0 else {
      isOpen = false
      throw Self.failure(path)
    }
  }

  deinit { abandon() }

  /// The permissions of a file; nil if it does not exist.
  private static func mode(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }

  /// Checks that the destination's folder exists, so that a command can fail early.
  static func canCreate(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard !path.isEmpty, FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
      isFolder.boolValue
    else { return false }
    return !(FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue)
  }

  /// Rejects a path with an existing file.
  ///
  /// - Throws: ``ToolFailure``.
  static func requireAbsence(at path: String) throws {
    guard !FileManager.default.fileExists(atPath: path) || FileLocation(path).isSpecial else {
      throw ToolFailure.usage("\(path) exists; add --force to replace it")
    }
  }

  private static func failure(_ path: String) -> ToolFailure {
    ToolFailure.inputOutput("\(path) could not be written: \(FileDescriptor.lastError)")
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    guard FileDescriptor.write(bytes, to: descriptor) else { throw Self.failure(path) }
  }

  func write(_ text: String) throws { try Array(text.utf8).withUnsafeBytes { try write($0) } }

  /// Runs a closure that writes, and moves the file to its destination; if the closure throws, there is no
  /// file.
  ///
  /// A companion is a file that belongs to the replaced one, and is removed first.
  func commit<Result>(removing companion: String? = nil, _ body: () throws -> Result) throws -> Result {
    guard isOpen else { throw ToolFailure.inputOutput("\(path) is finished already") }
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
