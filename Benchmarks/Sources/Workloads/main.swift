// The benchmark workloads: this library, the raw C interfaces, GRDB and simple Codable implementations,
// interleaved, with one process for each engine.
//
//   swift run -c release Workloads [--rows N] [--engine sqlite] [--work NAME] [--results FILE] [--chart FILE]
//   swift run -c release Workloads --scaling FILE.svg [--largest N] [--results FILE]

import CMemory
import Foundation
import PersistenceSQLite

func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

/// Makes the process keep its memory, because new mappings by the system add noise.
func keepMemory() {
  #if os(Linux)
    mallopt(M_MMAP_THRESHOLD, 1 << 30)
    mallopt(M_TRIM_THRESHOLD, Int32.max)
  #endif
}

/// Measures one engine in this process.
func measure(_ engine: Engine, _ options: Options) throws -> Report.Section {
  keepMemory()
  // Fewer movies for JSON, because each is a synchronized file.
  let rows = engine == .json ? options.rows / 20 : options.rows
  let folder = try Folder(options.folder).new(engine.rawValue)
  let input = Input(rows: rows, singles: engine == .json ? 1_000 : 200)
  say("\(engine.title): making the stores")
  let workloads = try Workloads(input: input, folder: folder).of(engine)
  let wanted = workloads.filter { workload in options.work.map { workload.name.contains($0) } ?? true }
  let outcomes = try wanted.map { workload in
    say("\(engine.title): \(workload.name)")
    return try workload.measure(repetitions: options.repetitions)
  }
  try FileManager.default.removeItem(atPath: folder.path)
  return Report.Section(engine: engine, outcomes: outcomes)
}

/// Measures an engine in another process, because memory and caches interfere.
func delegate<Result: Decodable>(_ engine: Engine, _ arguments: [String]) throws -> Result {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw Failure("\(engine.title) was not measured") }
  return try JSONDecoder().decode(Result.self, from: data)
}

/// Measures all engines, each in a separate process.
func compare(_ options: Options) throws {
  var report = Report(
    rows: options.rows, repetitions: options.repetitions, cores: ProcessInfo.processInfo.activeProcessorCount,
    load: [Report.currentLoad()], engines: [])
  for engine in options.engines {
    var arguments = [
      "--child", engine.rawValue, "--rows", "\(options.rows)", "--repetitions", "\(options.repetitions)",
      "--folder", options.folder,
    ]
    if let work = options.work { arguments += ["--work", work] }
    report.engines.append(try delegate(engine, arguments))
  }
  report.load.append(Report.currentLoad())
  try write(report, options.results)
  if let chart = options.chart {
    try Chart(report: report).svg.write(toFile: chart, atomically: true, encoding: .utf8)
  }
  print(ResultTable(report: report))
}

/// Measures the growth of costs with the rows, and of throughput with the readers.
///
/// - Returns: Whether both meet their goals.
func scale(_ options: Options, _ chart: String) throws -> Bool {
  var report = ScalingReport(
    cores: ProcessInfo.processInfo.activeProcessorCount, load: [Report.currentLoad()], points: [],
    readers: [])
  for engine in [Engine.sqlite, .lmdb, .json] {
    for size in Growth.sizes(of: engine, upTo: options.largest) {
      report.points += try delegate(
        engine, ["--child", engine.rawValue, "--size", "\(size)", "--folder", options.folder])
    }
  }
  for engine in [Engine.sqlite, .lmdb] {
    report.readers += try delegate(engine, ["--readers", engine.rawValue, "--folder", options.folder])
  }
  report.load.append(Report.currentLoad())
  try write(report, options.results)
  try ScalingChart(report: report).svg.write(toFile: chart, atomically: true, encoding: .utf8)
  print(ScalingTable(report: report))
  return report.isGood
}

func write(_ report: some Encodable, _ path: String) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
  try encoder.encode(report).write(to: URL(fileURLWithPath: path))
}

func answer(_ result: some Encodable) throws {
  FileHandle.standardOutput.write(try JSONEncoder().encode(result))
}

func run(_ options: Options) throws {
  if options.readsSideBySide {
    try answer(try Readers.measure(options.engines[0], options))
  } else if options.isChild, let size = options.size {
    try answer(try Growth.measure(options.engines[0], rows: size, options))
  } else if options.isChild {
    try answer(try measure(options.engines[0], options))
  } else if let chart = options.scaling {
    if try !scale(options, chart) { exit(1) }
  } else {
    try compare(options)
  }
}

SQLiteLibrary.tuneForParallelReads()
do { try run(try Options(CommandLine.arguments.dropFirst())) } catch {
  say("Workloads: \(error)")
  exit(1)
}
