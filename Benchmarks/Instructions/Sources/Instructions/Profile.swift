import Foundation

/// The functions that use the instructions of an operation, without their callees.
struct Profile {
  private static let length = 20

  /// Returns the functions with the most instructions, and their number for one unit.
  let table: String

  init(of count: Counter.Count) throws {
    // Uses a shell for the pipe between the two programs.
    let text = try Self.output(
      "callgrind_annotate --inclusive=no --threshold=100 '\(count.dump)' | swift demangle --simplified --compact"
    )
    var instructions: [String: Int] = [:]
    for line in text.split(separator: "\n") {
      // 1,234 (12.3%)  file:function [object]
      let words = line.split(separator: " ", omittingEmptySubsequences: true)
      guard words.count > 2, let found = Int(words[0].filter { $0 != "," }), line.contains("%)"),
        let start = line.range(of: "%)")?.upperBound
      else { continue }
      var name = line[start...].trimmingCharacters(in: .whitespaces)
      if let end = name.range(of: " [", options: .backwards) { name = String(name[..<end.lowerBound]) }
      guard !name.hasPrefix("PROGRAM TOTALS") else { continue }
      if let file = name.range(of: ":"), !name[..<file.lowerBound].contains(" ") {
        name = String(name[file.upperBound...])
      }
      instructions[name, default: 0] += found
    }
    let all = max(1, count.instructions * count.units)
    // Skips callers of the operation, to which Callgrind attributes all instructions.
    instructions = instructions.filter { Double($0.value) < 0.99 * Double(all) }
    var lines = ["", "\(count.name): \(count.instructions) instructions per \(count.unit)"]
    for (name, found) in instructions.sorted(by: { $0.value > $1.value }).prefix(Self.length) {
      let share = 100 * Double(found) / Double(all)
      guard share >= 1 else { break }
      lines.append(String(format: "%6.1f %%  %8d  %@", share, found / count.units, String(name.prefix(140))))
    }
    table = lines.joined(separator: "\n")
  }

  private static func output(_ script: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure("“\(script)” failed") }
    return String(decoding: output, as: UTF8.self)
  }
}
