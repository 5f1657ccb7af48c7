import CFileRecorder
import Foundation
import Synchronization

/// Records the file calls of a worker process, and fails chosen ones.
///
/// The recorder is a C library that the worker loads before all others (`LD_PRELOAD`), so it works with any engine
/// without changes to it. The suite compiles it at run time, because a dependency could only link it into the author's
/// program, where it would replace every file call. A C compiler is present wherever SwiftPM can link.
///
/// It does not see system calls that a program makes without the C library, nor those inside the C library (`fopen`).
/// ``RecordedRun/missedCalls(in:)`` finds their effects.
enum FileRecorder {
  /// Why file calls cannot be recorded.
  struct Obstacle: Error, CustomStringConvertible { var description: String }

  /// The reason why no worker can be recorded here; nil if the recorder works.
  static let obstacle: Obstacle? = {
    do {
      _ = try library(failsAllocations: false)
      return nil
    } catch {
      return error as? Obstacle ?? Obstacle(description: "\(error)")
    }
  }()

  /// The reason why a worker cannot be recorded; nil if it can.
  static func obstacle(of worker: WorkerProgram) -> Obstacle? {
    if let obstacle { return obstacle }
    guard let isDynamic = try? isDynamicallyLinked(worker.executable), !isDynamic else { return nil }
    return Obstacle(
      description: "\(worker.executable.lastPathComponent) is statically linked, so it loads no library")
  }

  /// The environment of a worker whose calls below a folder are recorded.
  static func environment(root: URL, log: URL, failing fault: FileFault?) throws -> [String: String] {
    var environment = [
      "LD_PRELOAD": try library(failsAllocations: fault?.calls == .allocate),
      "PERSISTENCE_RECORD_ROOT": root.resolvingSymlinksInPath().path,
      "PERSISTENCE_RECORD_LOG": log.path,
    ]
    environment["PERSISTENCE_RECORD_FAIL"] = fault?.environment
    return environment
  }

  private static let compiled = Mutex<[Bool: Result<String, Obstacle>]>([:])
  /// The libraries stay until the process exits.
  private static let scratch = try? ScratchFolder()

  private static func library(failsAllocations: Bool) throws -> String {
    try compiled.withLock { compiled in
      if let known = compiled[failsAllocations] { return known }
      let result = Result { try compile(failsAllocations: failsAllocations) }
        .mapError { $0 as? Obstacle ?? Obstacle(description: "\($0)") }
      compiled[failsAllocations] = result
      return result
    }.get()
  }

  private static func compile(failsAllocations: Bool) throws -> String {
    let parts = (0...).lazy.map { persistence_file_recorder_source(Int32($0)) }.prefix { $0 != nil }
    let source = parts.compactMap { $0.map { String(cString: $0) } }.joined(separator: "\n")
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard !source.isEmpty else {
      throw Obstacle(description: "the recorder needs Linux with the GNU C library")
    }
    guard let scratch else { throw Obstacle(description: "there is no folder for the recorder") }
    guard let compiler = compiler() else {
      throw Obstacle(description: "the recorder needs a C compiler: none of clang, cc and gcc is in PATH")
    }
    let folder = try scratch.make("recorder", on: .disk)
    let file = folder.appendingPathComponent("file_recorder.c")
    try Data(source.utf8).write(to: file)
    // The name that the recorder itself does not count as an engine.
    let library = folder.appendingPathComponent("file-recorder.so")
    guard !library.path.contains(where: { $0 == " " || $0 == ":" }) else {
      throw Obstacle(description: "LD_PRELOAD takes no path with spaces or colons, as in \(library.path)")
    }
    let (process, _) = try Process.started { process in
      process.executableURL = compiler
      process.arguments =
        ["-std=gnu11", "-O1", "-w", "-fPIC", "-shared", "-pthread", "-DPERSISTENCE_RECORDER"]
        + (failsAllocations ? ["-DPERSISTENCE_FAIL_ALLOCATIONS"] : []) + ["-o", library.path, file.path]
      process.standardOutput = FileHandle.standardError
    }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Obstacle(description: "\(compiler.path) cannot compile the recorder")
    }
    return library.path
  }

  private static func compiler() -> URL? {
    let environment = ProcessInfo.processInfo.environment
    let folders = (environment["PATH"] ?? "/usr/bin").split(separator: ":").map(String.init)
    let names = [environment["CC"], "clang", "cc", "gcc"].compactMap(\.self)
    let paths = names.flatMap { name in name.contains("/") ? [name] : folders.map { "\($0)/\(name)" } }
    return paths.first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(fileURLWithPath: $0) }
  }

  /// Whether a 64-bit ELF program names a loader, which alone reads `LD_PRELOAD`.
  private static func isDynamicallyLinked(_ program: URL) throws -> Bool {
    let file = try FileHandle(forReadingFrom: program)
    defer { try? file.close() }
    let bytes = [UInt8](try file.read(upToCount: 4096) ?? Data())
    func number(_ offset: Int, _ size: Int) -> Int {
      offset + size > bytes.count
        ? 0 : (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }
    // A script starts an interpreter, which is dynamic where the toolchain is.
    guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2]) else { return true }
    let (table, size, count) = (number(32, 4), number(54, 2), number(56, 2))
    let interpreter = 3
    return (0..<count).contains { number(table + $0 * size, 4) == interpreter }
  }
}
