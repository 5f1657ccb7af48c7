import Foundation

/// A scaling report as text.
struct ScalingTable: CustomStringConvertible {
  let report: ScalingReport

  var description: String { (growth + [""] + readers).joined(separator: "\n") }

  private var growth: [String] {
    let sizes = Set(report.points.map(\.rows)).sorted()
    var lines = [
      "What a unit costs by the number of rows, in µs (raw C in brackets); growth from the least to the most",
      Self.line(["", "unit"] + sizes.map(String.init) + ["growth", "raw's", "law", ""]),
    ]
    for curve in report.curves {
      let first = curve.points[0]
      let costs = sizes.map { size in
        guard let point = curve.points.first(where: { $0.rows == size }) else { return "–" }
        let parts = [Names.library, Names.raw].compactMap { point.seconds[$0] }
          .map { String(format: "%.2f", $0 * 1e6) }
        return parts[0] + (parts.count > 1 ? " (\(parts[1]))" : "")
      }
      let growths = [Names.library, Names.raw].map { name in
        curve.growth(of: name).map { String(format: "%.2f", $0) } ?? "–"
      }
      lines.append(
        Self.line(
          ["\(first.engine.title): \(first.work)", first.unit] + costs + growths
            + [String(format: "%.1f", curve.lawful), curve.isGood ? "as expected" : "TOO MUCH"]))
    }
    return lines
  }

  private var readers: [String] {
    var lines = [
      "Reads by key side by side, while one thread commits (\(report.cores) cores); the slowest of a thousand",
      Self.line([
        "", "threads", "reads/s", "of one", "99.9 % in µs", "> 10 µs per s", "commits/s", "open write", "",
      ]),
    ]
    for result in report.readers {
      let isJudged = result.threads == 2 && result.name == Names.library && report.cores > 1
      let verdict = !isJudged ? "" : report.scales(result.engine) ? "≥ 1.7: met" : "≥ 1.7: MISSED"
      lines.append(
        Self.line([
          "\(result.engine.title), \(result.name)", "\(result.threads)",
          String(format: "%.0f", result.readsPerSecond),
          String(format: "%.2f", result.speedup), String(format: "%.1f", result.slowest),
          String(format: "%.0f", result.interruptedPerSecond),
          String(format: "%.0f", result.commitsPerSecond),
          String(format: "%.1f", result.besideOpenTransaction), verdict,
        ]))
    }
    return lines
  }

  private static func line(_ cells: [String]) -> String {
    var text = ""
    for (column, cell) in cells.enumerated() {
      let width = column == 0 ? 32 : column == 1 ? 9 : 16
      let padding = String(repeating: " ", count: max(0, width - cell.count))
      text += column == 0 ? cell + padding : padding + cell
    }
    return text
  }
}
