import Foundation

extension CrashState {
  /// Creates the files of the state in an empty folder.
  func write(to folder: URL) throws {
    for (path, entry) in entries {
      try (Array(folder.path.utf8) + [UInt8(ascii: "/")] + path + [0]).withUnsafeBufferPointer { bytes in
        try bytes.withMemoryRebound(to: CChar.self) { name in
          guard let name = name.baseAddress else { return }
          try Self.create(entry, at: name)
        }
      }
    }
  }

  private static func create(_ entry: Entry, at path: UnsafePointer<CChar>) throws {
    switch entry {
    case .folder:
      guard mkdir(path, 0o755) == 0 else { throw failure("create the folder", path) }
    case .link(let destination):
      let result = (destination + [0]).withUnsafeBufferPointer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.map { symlink($0, path) } ?? -1 }
      }
      guard result == 0 else { throw failure("create the link", path) }
    case .file(let bytes):
      let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
      guard file >= 0 else { throw failure("create", path) }
      defer { close(file) }
      try bytes.withUnsafeBytes { bytes in
        var rest = bytes
        while !rest.isEmpty {
          let count = Foundation.write(file, rest.baseAddress, rest.count)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { throw failure("write", path) }
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
      }
    }
  }

  private static func failure(_ action: String, _ path: UnsafePointer<CChar>) -> any Error {
    WorkerProcess.Failure(
      description:
        "the suite could not \(action) \(String(cString: path)): \(String(cString: strerror(errno)))")
  }
}
