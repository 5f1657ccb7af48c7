import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// Runs a migration in a process that tests can kill:
// MigrationWorker compare FROM PATH TO PATH
// MigrationWorker FROM PATH TO PATH new|resume|restart none|count|digest|full BATCH [REJECTS]

/// Writes a line without buffering, so that a kill loses no line.
func say(_ line: String) {
  let bytes = Array((line.replacingOccurrences(of: "\n", with: " ") + "\n").utf8)
  _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

/// The peak memory of the process, in bytes.
func peakMemory() -> Int {
  #if os(Linux)
    // Not ru_maxrss, which a process inherits from its parent.
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    // Without a value, the test must fail.
    return (Int(line.filter(\.isNumber)) ?? Int.max >> 10) << 10
  #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss
  #endif
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count == 5, arguments[0] == "compare" {
  let left = try TestStores.open(arguments[1], arguments[2])
  let right = try TestStores.open(arguments[3], arguments[4])
  try right.requireComplete()
  say(try StoreComparison(left, right).run().isEqual ? "equal" : "different")
  exit(0)
}
guard arguments.count >= 7, let start = MigrationOptions.Start(rawValue: arguments[4]),
  let verification = MigrationOptions.Verification(rawValue: arguments[5]), let batch = Int(arguments[6])
else {
  say("usage")
  exit(64)
}
do {
  let source = try TestStores.open(arguments[0], arguments[1])
  var destination = try TestStores.open(arguments[2], arguments[3])
  var options = MigrationOptions(batchSize: batch, start: start, verification: verification)
  var rejects: MigrationRejectFile?
  if arguments.count > 7 {
    destination = RefusingContext(destination)
    options.failures = .reject
    rejects = MigrationRejectFile(path: arguments[7])
  }
  say("begun")
  let report = try Migration(from: source, to: destination, options: options, rejects: rejects).run {
    progress in say("\(progress.phase.rawValue) \(progress.model) \(progress.done)")
  }
  say("memory \(peakMemory())")
  say("finished \(report.counts.read)")
} catch let error as PersistenceError {
  say("error \(error.code.rawValue) \(error)")
  exit(1)
}
