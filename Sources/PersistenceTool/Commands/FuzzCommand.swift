import ArgumentParser
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport

/// Runs programs of chance on contexts, and compares them with a reference.
struct FuzzCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz", abstract: "Run programs of chance on contexts, and compare them with a reference.",
    discussion: """
      Every program runs on a new store of each context; rows, order and errors are compared after each step. \
      The stores are in a temporary folder or, where a URL has a path, in the folder of that name, which must not \
      exist yet or be empty; they are removed afterwards. Where a context differs, the least program that shows \
      it is printed as a test, and the exit code is 1. The same seed makes the same programs.
      """)

  @Argument(help: "The contexts' URLs, such as memory: sqlite: lmdb:?sync=nosync.")
  var urls: [String]

  @Option(help: "From what the programs are drawn; another one at each run where it is not given.")
  var seed: UInt64?

  @Option(help: "How many operations are run, each on every context.")
  var operations = 20_000

  @Option(help: "How progress is shown: auto, plain, json or none.")
  var progress: ProgressDisplay.Style = .auto

  func validate() throws {
    if operations < 1 { throw ValidationError("--operations must be at least 1") }
  }

  func run(in session: ToolSession) throws -> ToolFailure.Exit {
    let contexts = try urls.map { try ContextsUnderTest(session).context($0) }
    let seed = seed ?? UInt64.random(in: 0...UInt64.max)
    try session.say("seed \(seed)")
    let started = ContinuousClock.now
    let report = try run(Fuzzer(seed: seed, operations: operations), on: contexts, session)
    let seconds = ProgressDisplay.duration((ContinuousClock.now - started).timeInterval)
    try session.say(
      "\(report.operations) operations in \(report.programs) programs on \(urls.joined(separator: ", ")), "
        + "\(seconds): \(report.differences.isEmpty ? "no difference" : "a difference")")
    for difference in report.differences { try print(difference, session) }
    return report.differences.isEmpty ? .success : .differences
  }

  private func run(_ fuzzer: Fuzzer, on contexts: [ContextUnderTest], _ session: ToolSession) throws
    -> FuzzReport
  {
    let display = ProgressDisplay(session, style: progress)
    defer { try? display.finish() }  // A bar that cannot be cleared is no reason to lose the result.
    return try fuzzer.run(on: contexts) { progress in
      try session.checkInterrupt()
      try display.update("fuzzing", done: min(progress.operations, progress.total), total: progress.total)
    }
  }

  private func print(_ difference: FuzzDifference, _ session: ToolSession) throws {
    guard urls.indices.contains(difference.position) else { return }
    let url = try StoreURL(urls[difference.position])
    var expression = "ContextUnderTest(engine: .\(url.scheme))"
    if !url.options.isEmpty {
      let options = url.options.sorted { $0.key < $1.key }.map {
        "\($0.key.debugDescription): \($0.value.debugDescription)"
      }
      expression = "ContextUnderTest(engine: .\(url.scheme), options: [\(options.joined(separator: ", "))])"
    }
    let modules = ["sqlite": "PersistenceSQLite", "lmdb": "PersistenceLMDB", "json": "PersistenceJSON"]
    let module = modules[url.scheme].map { [$0] } ?? []
    try session.output.line(difference.testSource(context: expression, imports: module))
  }
}
