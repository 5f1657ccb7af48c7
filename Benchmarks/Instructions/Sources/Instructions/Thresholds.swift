import Foundation

/// The recorded counts, and their tolerance.
struct Thresholds: Codable {
  /// The allowed excess over a recorded count, as a fraction.
  var tolerance: Double
  /// Instructions per unit, by the name of the operation.
  var counts: [String: Int]

  init(recording counts: [Counter.Count]) {
    tolerance = 0.1
    self.counts = Dictionary(counts.map { ($0.name, $0.instructions) }) { $1 }
  }

  static func read(_ path: String) throws -> Thresholds {
    try JSONDecoder().decode(Thresholds.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  func write(_ path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try (encoder.encode(self) + Data("\n".utf8)).write(to: URL(fileURLWithPath: path))
  }

  /// Compares counts with the recorded ones, as a table.
  ///
  /// - Parameter found: The counts.
  /// - Returns: The table, and whether all counts are known and within the tolerance.
  func check(_ found: [Counter.Count]) -> (table: String, isGood: Bool) {
    var lines = [Self.line("instructions per unit", "unit", "counted", "recorded", "")]
    var isGood = true
    for count in found {
      guard let recorded = counts[count.name] else {
        isGood = false
        lines.append(Self.line(count.name, count.unit, "\(count.instructions)", "–", "NOT RECORDED"))
        continue
      }
      let ratio = Double(count.instructions) / Double(recorded)
      let verdict = ratio > 1 + tolerance ? "TOO MANY" : ratio < 1 - tolerance ? "fewer: record them" : ""
      if ratio > 1 + tolerance { isGood = false }
      lines.append(
        Self.line(
          count.name, count.unit, "\(count.instructions)", "\(recorded)",
          String(format: "%.2f %@", ratio, verdict)))
    }
    for name in counts.keys.sorted() where !found.contains(where: { $0.name == name }) {
      isGood = false
      lines.append(Self.line(name, "", "–", "\(counts[name] ?? 0)", "NOT COUNTED"))
    }
    return (lines.joined(separator: "\n"), isGood)
  }

  private static func line(_ name: String, _ unit: String, _ rest: String...) -> String {
    let start = name.padding(toLength: 38, withPad: " ", startingAt: 0)
    let cells = rest.map { String(repeating: " ", count: max(1, 10 - $0.count)) + $0 }
    return start + unit.padding(toLength: 10, withPad: " ", startingAt: 0) + cells.joined()
  }
}
