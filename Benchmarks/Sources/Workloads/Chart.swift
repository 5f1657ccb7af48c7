import Foundation

/// A chart of a report: a bar for each contender on a logarithmic scale, and the reference as a line.
struct Chart {
  let report: Report

  private static let width = 860.0
  private static let left = 270.0
  private static let right = 800.0
  private static let scale = 0.25...128.0
  private static let colours: [String: String] = [
    Names.library: "#e2582a", Names.raw: "#8a8f98", Names.grdb: "#3b7dd8", Names.grdbCodable: "#93b9ec",
    Names.codable: "#b79ad6",
  ]

  /// The chart as SVG.
  var svg: String {
    var y = 64.0
    var body = ""
    for section in report.engines {
      y += 14
      body += Self.text(section.engine.title, x: 16, y: y, style: "font-weight=\"bold\" font-size=\"14\"")
      y += 12
      for outcome in section.outcomes { body += group(outcome, &y) }
    }
    let ticks = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128]
    let grid = ticks.map { tick in
      let x = Self.place(tick)
      let colour = tick == 1 ? "#333333" : "#dddddd"
      return "<line x1=\"\(x)\" x2=\"\(x)\" y1=\"58\" y2=\"\(y)\" stroke=\"\(colour)\"/>\n"
        + Self.text(
          String(format: "%g", tick), x: x, y: 52, style: "text-anchor=\"middle\" fill=\"#666666\"")
    }
    let title =
      "Times of the limit (1 = SQLite's, LMDB's or the system's C interface called from Swift); "
      + "shorter is better"
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(y + 16))" \
      font-family="system-ui, sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="white"/>
      \(Self.text(title, x: 16, y: 20, style: "font-size=\"12\""))\(legend)\(grid.joined())\(body)</svg>

      """
  }

  private var legend: String {
    let names = [Names.library, Names.grdb, Names.grdbCodable, Names.codable, Names.raw]
    return names.enumerated().map { number, name in
      let x = 16 + Double(number % 3) * 84
      let y = 36 + Double(number / 3) * 16
      return Self.bar(x: x, y: y - 8, width: 9, colour: Self.colours[name] ?? "black")
        + Self.text(name, x: x + 13, y: y, style: "")
    }
    .joined()
  }

  private func group(_ outcome: Outcome, _ y: inout Double) -> String {
    var text = ""
    let top = y
    let goal = Self.place(outcome.goal)
    for timing in outcome.timings where timing.name != outcome.reference {
      guard let ratio = outcome.ratio(of: timing.name), let colour = Self.colours[timing.name] else {
        continue
      }
      let (start, end) = (Self.place(Self.scale.lowerBound), Self.place(ratio))
      text += Self.bar(x: start, y: y, width: max(1, end - start), colour: colour)
      var marks = [Self.place(1)]
      if timing.name == Names.library {
        marks.append(goal)
        // A short mark at the library's goal.
        text +=
          "<line x1=\"\(goal)\" x2=\"\(goal)\" y1=\"\(y - 1)\" y2=\"\(y + 11)\" stroke=\"#111111\" "
          + "stroke-width=\"2\"/>\n"
      }
      let label = String(format: "%.2f", ratio)
      let place = Self.labelPlace(after: end, width: Double(label.count) * 6, beside: marks)
      text += Self.text(label, x: place, y: y + 9, style: "font-size=\"10\"")
      y += 12
    }
    text += Self.text(
      outcome.work, x: Self.left - 8, y: (top + y) / 2 + 3, style: "text-anchor=\"end\"")
    y += 8
    return text
  }

  /// The place of a label behind the end of a bar that lies over no mark.
  private static func labelPlace(after end: Double, width: Double, beside marks: [Double]) -> Double {
    marks.sorted().reduce(end + 4) { x, mark in
      mark > x - 4 && mark < x + width ? mark + 4 : x
    }
  }

  private static func place(_ ratio: Double) -> Double {
    let clamped = min(max(ratio, scale.lowerBound), scale.upperBound)
    let share = log(clamped / scale.lowerBound) / log(scale.upperBound / scale.lowerBound)
    return ((left + share * (right - left)) * 10).rounded() / 10
  }

  private static func bar(x: Double, y: Double, width: Double, colour: String) -> String {
    "<rect x=\"\(x)\" y=\"\(y)\" width=\"\((width * 10).rounded() / 10)\" height=\"10\" fill=\"\(colour)\"/>\n"
  }

  private static func text(_ text: String, x: Double, y: Double, style: String) -> String {
    "<text x=\"\(x)\" y=\"\(y)\" \(style)>\(text)</text>\n"
  }
}
