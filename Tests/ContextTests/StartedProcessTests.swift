#if os(Linux)
  import Foundation
  import PersistenceConformance
  import Synchronization
  import Testing

  @Suite("Processes of tests")
  struct StartedProcessTests {
    @Test("a process inherits no pipe or socket of processes that start at the same moment")
    func inheritance() throws {
      let kept = Mutex<[String]>([])
      let group = DispatchGroup()
      for _ in 0..<40 {
        group.enter()
        Thread.detachNewThread {
          defer { group.leave() }
          for _ in 0..<10 {
            let descriptors = (try? Self.descriptors()) ?? ["a process that did not start"]
            // Foundation tells the end of each process by a socket of its own.
            if descriptors.count > 1 { kept.withLock { $0 += descriptors } }
          }
        }
      }
      group.wait()
      #expect(kept.withLock { $0 }.isEmpty)
    }

    /// The descriptors that a new process finds open, but the standard ones.
    private static func descriptors() throws -> [String] {
      let (process, output) = try Process.started { process in
        process.executableURL = URL(fileURLWithPath: "/bin/ls")
        process.arguments = ["-l", "/proc/self/fd"]
        let pipes = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = pipes
        return pipes.1
      }
      let said = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      let lines = String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
      try #require(lines.contains { $0.contains(" 1 -> pipe:") })
      return lines.filter { $0.contains("->") && !$0.contains("/proc/") && !$0.contains(/\ [012] ->/) }
    }
  }
#endif
