#if CommandLineTool
  import ArgumentParser
  import PersistenceConformance
  import PersistenceDriver
  import PersistenceDriverSupport

  /// Runs random programs on contexts and compares the results with a reference model.
  struct FuzzCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "fuzz",
      abstract: "Run random programs on contexts, and compare the results with a reference model.",
      discussion: """
        Every program runs on a new store of each context. The fuzzer compares rows, order and errors after each step. \
        It creates stores in a temporary folder, or in a URL's path, which must be an empty or new folder, and removes \
        them afterwards. If a context differs, the command prints a minimal program as a test, and the exit code is 1. \
        The same seed generates the same programs.
        """)

    @Argument(help: "The URLs of the contexts, for example memory: sqlite: lmdb:?sync=off.")
    var urls: [String]

    @Option(help: "The seed of the programs. Default: random.")
    var seed: UInt64?

    @Option(help: "The number of operations to run on every context.")
    var operations = 20_000

    @Option(help: "How to show progress: auto, plain, json or none.")
    var progress: ProgressDisplay.Style = .auto

    func validate() throws {
      if operations < 1 { throw ValidationError("--operations must be at least 1") }
    }

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let factories = urls.map { _ in ContextsUnderTest(session: session) }
      let contexts = try zip(factories, urls).map { try $0.context($1) }
      defer { for factory in factories { try? factory.stores.removeAll() } }
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
      defer { try? display.finish() }  // A display failure must not lose the result.
      return try fuzzer.run(on: contexts) { progress in
        try session.checkInterrupt()
        try display.update("fuzzing", done: min(progress.operations, progress.total), total: progress.total)
      }
    }

    private func print(_ difference: FuzzDifference, _ session: ToolSession) throws {
      guard urls.indices.contains(difference.position) else { return }
      let url = try StoreURL(urls[difference.position])
      // Only the tool's LMDB engine has the option `plans`.
      let isToolEngine = url.options["plans"] != nil
      let engine = isToolEngine ? "ToolEngines.lmdb" : ".\(url.scheme)"
      var expression = "ContextUnderTest(engine: \(engine))"
      if !url.options.isEmpty {
        let options = url.options.sorted { $0.key < $1.key }.map {
          "\($0.key.debugDescription): \($0.value.debugDescription)"
        }
        expression = "ContextUnderTest(engine: \(engine), options: [\(options.joined(separator: ", "))])"
      }
      let modules = [
        "sqlite": "PersistenceSQLite", "lmdb": "PersistenceLMDB", "json": "PersistenceJSON",
        "postgres": "PersistencePostgres",
      ]
      let module = isToolEngine ? ["PersistenceTool"] : modules[url.scheme].map { [$0] } ?? []
      try session.output.line(difference.testSource(context: expression, imports: module))
    }
  }
#endif
