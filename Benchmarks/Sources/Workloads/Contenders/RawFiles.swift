import Foundation

/// System calls on the same files: the cost of reading and writing without parsing.
final class RawFiles {
  private let source: JSONFolder
  private let folder: Folder
  private let input: Input
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ source: JSONFolder, _ folder: Folder, _ input: Input) {
    self.source = source
    self.folder = folder
    self.input = input
  }

  private static func check(_ code: Int32) throws -> Int32 {
    guard code >= 0 else { throw Failure(String(cString: strerror(errno))) }
    return code
  }

  private static func withFolder<Result>(_ path: String, _ body: (Int32) throws -> Result) throws -> Result {
    let descriptor = try check(Glibc.open(path, O_RDONLY | O_DIRECTORY))
    defer { close(descriptor) }
    return try body(descriptor)
  }

  /// Reads a file, and counts its bytes.
  private func read(_ name: UnsafePointer<CChar>, in folder: Int32) throws -> Int {
    let file = try Self.check(openat(folder, name, O_RDONLY))
    defer { close(file) }
    var count = 0
    while true {
      let got = buffer.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
      guard got >= 0 else { throw Failure(String(cString: strerror(errno))) }
      if got == 0 { return count }
      count += got
    }
  }

  func fetchAll(_ watch: inout Stopwatch) throws -> Answer {
    let count = try watch.measure {
      try Self.withFolder(source.path) { folder in
        guard let entries = fdopendir(dup(folder)) else { throw Failure("no folder") }
        defer { closedir(entries) }
        var count = 0
        while let entry = readdir(entries) {
          try withUnsafePointer(to: &entry.pointee.d_name) { name in
            try name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
              if name[0] != 0x2E, try read(name, in: folder) > 0 { count += 1 }
            }
          }
        }
        return count
      }
    }
    // The content is checked outside the measured time, because this contender does not parse.
    let found = try source.all(in: source.path)
    guard found.count == count else { throw Failure("\(count) files were read of \(found.count)") }
    return Answer(found)
  }

  func getByKey(_ watch: inout Stopwatch) throws -> Answer {
    var isWhole = true
    try watch.measure {
      try Self.withFolder(source.path) { folder in
        for key in input.keys where try read(JSONFolder.name(of: key), in: folder) == 0 { isWhole = false }
      }
    }
    guard isWhole else { throw Failure("an empty file") }
    var answer = Answer()
    for key in input.keys { answer.addLightly(input.movies[Int(key)]) }
    return answer
  }

  /// Writes and synchronizes each file under a temporary name, renames it, and synchronizes the folder at the
  /// end.
  func insertSinglesTogether(_ watch: inout Stopwatch) throws -> Answer {
    let new = try folder.new("new-by-hand")
    let contents = try input.singles.map { (JSONFolder.name(of: $0.id), try source.bytes(of: $0)) }
    try watch.measure {
      try Self.withFolder(new.path) { folder in
        for (name, data) in contents {
          let file = try Self.check(openat(folder, "new", O_WRONLY | O_CREAT | O_TRUNC, 0o600))
          defer { close(file) }
          let written = data.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
          guard written == data.count else { throw Failure("a file was not written") }
          _ = try Self.check(fsync(file))
          _ = try Self.check(renameat(folder, "new", folder, name))
        }
        _ = try Self.check(fsync(folder))
      }
    }
    return Answer(try source.all(in: new.path))
  }
}
