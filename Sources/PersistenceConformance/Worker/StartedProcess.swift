package import Foundation

extension Process {
  private static let starting = NSLock()

  /// Configures and starts a process, alone among the processes that start so.
  ///
  /// On Linux, Foundation closes in a child the descriptors up to the highest one open when it begins to start the child.
  /// A pipe or socket that another thread makes meanwhile stays open in it. A process that waits for the end of such a pipe,
  /// or whose end is told by such a socket, then waits for the other child to end, and two workers may wait for each other.
  /// So the pipes of a process are made in the closure too.
  ///
  /// - Parameter configure: Sets the program, its arguments, its environment and its pipes, and returns the pipes.
  /// - Returns: The running process, and what the closure returned.
  /// - Throws: The closure's errors, and those of Foundation if the process cannot be started.
  package static func started<Pipes>(_ configure: (Process) throws -> Pipes) throws -> (
    process: Process, pipes: Pipes
  ) {
    try starting.withLock {
      let process = Process()
      let pipes = try configure(process)
      try process.run()
      return (process, pipes)
    }
  }
}
