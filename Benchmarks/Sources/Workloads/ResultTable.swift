import Foundation

/// A report as text.
struct ResultTable: CustomStringConvertible {
  let report: Report

  var description: String {
    let load = report.load.map { String(format: "%.1f", $0) }.joined(separator: " before, ")
    var lines = [
      "\(report.rows) movies; medians of \(report.repetitions) after a warm-up, contenders interleaved, release;",
      "\(report.cores) cores, load \(load) after. Ratios are of the first column's time; less is better.",
    ]
    for section in report.engines {
      let names = Self.contenders(of: section)
      lines += ["", Self.line([section.engine.title, "limit"] + names + ["goal", ""])]
      for outcome in section.outcomes {
        let ratios = names.map { name in outcome.ratio(of: name).map { String(format: "%.2f", $0) } ?? "–" }
        let goal = "≤ " + String(format: "%.2f", outcome.goal)
        lines.append(
          Self.line([outcome.work, outcome.limit] + ratios + [goal, outcome.isMet ? "met" : "MISSED"]))
      }
    }
    let missed = report.engines.flatMap(\.outcomes).count { !$0.isMet }
    lines += ["", missed == 0 ? "Every goal is met." : "\(missed) goals are missed."]
    return lines.joined(separator: "\n")
  }

  /// The contenders of an engine, except those that are always the reference.
  static func contenders(of section: Report.Section) -> [String] {
    var names: [String] = []
    for outcome in section.outcomes {
      for timing in outcome.timings where timing.name != outcome.reference && !names.contains(timing.name) {
        names.append(timing.name)
      }
    }
    // The library first, then the others in their order.
    return names.filter { $0 == Names.library } + names.filter { $0 != Names.library }
  }

  private static func line(_ cells: [String]) -> String {
    var text = ""
    for (column, cell) in cells.enumerated() {
      let padding = String(repeating: " ", count: max(0, (column == 0 ? 42 : 14) - cell.count))
      text += column == 0 ? cell + padding : padding + cell
    }
    return text
  }
}

extension Outcome {
  /// The reference's time for one unit.
  var limit: String {
    guard let median = median(of: reference) else { return "–" }
    let seconds = median / Double(units)
    return switch seconds {
    case ..<1e-3: String(format: "%.2f µs", seconds * 1e6) + "/\(unit)"
    default: String(format: "%.2f ms", seconds * 1e3) + "/\(unit)"
    }
  }
}
