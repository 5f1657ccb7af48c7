import Foundation

/// What the process holds now; a number that the system does not tell is 0.
struct ProcessResources {
  /// The number of open file descriptors.
  let descriptors: Int
  /// The number of threads.
  let threads: Int
  /// The process's own memory, in bytes.
  let memory: Int

  init() {
    // The list itself takes one descriptor, each time.
    descriptors = Self.names(in: "/dev/fd").count
    threads = Self.names(in: "/proc/self/task").count
    memory = Self.ownMemory
  }

  /// The number of open files in a folder.
  static func openFiles(in folder: String) -> Int {
    let resolved = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    return names(in: "/proc/self/fd").count { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      return target?.hasPrefix(resolved + "/") == true
    }
  }

  private static func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  /// Memory without mapped files; where the system tells only the peak, the peak.
  private static var ownMemory: Int {
    if let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kilobytes = Int(line.filter(\.isNumber))
    {
      return kilobytes << 10
    }
    var usage = rusage()
    #if os(Linux)
      guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
    #else
      guard getrusage(RUSAGE_SELF, &usage) == 0 else { return 0 }
    #endif
    return Int(usage.ru_maxrss)
  }
}
