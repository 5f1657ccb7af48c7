import Foundation

// The two functions that libFuzzer calls. The environment variable PERSISTENCE_FUZZ_TARGET names the target, so that
// one executable has them all.

/// The target of this process, which is set once before the first input.
private nonisolated(unsafe) var target: FuzzTarget?

/// Selects the target, and reads its seeds once.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>>>
) -> CInt {
  let environment = ProcessInfo.processInfo.environment
  guard let chosen = FuzzTarget.all.first(where: { $0.name == environment["PERSISTENCE_FUZZ_TARGET"] }) else {
    let names = FuzzTarget.all.map(\.name).joined(separator: " ")
    stop("PERSISTENCE_FUZZ_TARGET is none of: \(names)", status: 2)
  }
  do {
    if let folder = environment["PERSISTENCE_FUZZ_SEEDS"] {
      try writeSeeds(of: chosen, to: URL(fileURLWithPath: folder))
      exit(0)
    }
    // Memory that the first inputs allocate once, such as caches, does not count.
    for seed in try chosen.seeds() { try seed.withUnsafeBytes { try chosen.run($0) } }
  } catch {
    stop("the seeds of \(chosen.name) cannot be read: \(error)", status: 2)
  }
  target = chosen
  AllocationCount.start()
  return 0
}

/// Reads one input; ends the process if a property of the target does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let target else { return 0 }
  let input = UnsafeRawBufferPointer(start: bytes, count: count)
  do {
    let limit = AllocationCount.limit(input)
    var peak = try AllocationCount.peak { try target.run(input) }
    // The first of many inputs of a kind may fill a cache.
    if peak > limit { peak = try AllocationCount.peak { try target.run(input) } }
    guard peak <= limit else {
      stop("an input of \(count) bytes allocates \(peak) bytes, over \(limit)")
    }
  } catch {
    stop("\(target.name): \(error)")
  }
  return 0
}

private func writeSeeds(of target: FuzzTarget, to folder: URL) throws {
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  for (number, seed) in try target.seeds().enumerated() {
    try Data(seed).write(to: folder.appendingPathComponent("seed-\(number)"))
  }
}

/// Ends the process: with an exit status, or in a way that libFuzzer records as a crash of the input.
private func stop(_ message: String, status: Int32? = nil) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  if let status { exit(status) }
  abort()
}
