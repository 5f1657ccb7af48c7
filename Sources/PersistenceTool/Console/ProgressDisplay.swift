import PersistenceDriver
import PersistenceMigration
import PersistenceDriverSupport

/// Shows progress: as a bar on a terminal, as a line every few seconds elsewhere, or as JSON events.
final class ProgressDisplay {
  enum Style: String, CaseIterable {
    /// A bar on a terminal, plain lines elsewhere.
    case auto
    case plain
    case json
    case none
  }

  private static let barWidth = 24

  private let session: ToolSession
  private let style: Style
  private let isBar: Bool
  private let keepsBars: Bool
  private var shown: ContinuousClock.Instant?
  private var started: ContinuousClock.Instant = .now
  private var subject = ""
  private var begun = 0
  private var hasBar = false
  private var lastDone = 0

  /// Creates a display; if finished bars stay, the next one starts a new line.
  init(_ session: ToolSession, style: Style = .auto, keepsBars: Bool = false) {
    self.session = session
    self.style = style
    self.keepsBars = keepsBars
    isBar = style == .auto && session.messages.isTerminal
  }

  /// Shows progress; throws if the user interrupted the tool.
  func update(_ progress: StoreProgress) throws {
    try session.checkInterrupt()
    let verb =
      switch progress.phase {
      case .planning: "reading"
      case .copying: "copying"
      case .verifying: "verifying"
      case .comparing: "comparing"
      case .resuming: "checking"
      case .indexing: "indexing"
      case .rewriting: "rewriting"
      case .stepping: "making"
      case .erasing: "erasing"
      }
    try update(
      "\(verb) \(progress.model)", done: progress.done, total: progress.total, phase: progress.phase.rawValue,
      model: progress.model)
  }

  func update(
    _ subject: String, done: Int, total: Int?, phase: String? = nil, model: String? = nil
  ) throws {
    guard style != .none else { return }
    let now = ContinuousClock.now
    if subject != self.subject {
      if keepsBars { try endBar() }
      self.subject = subject
      started = now
      begun = done
      lastDone = done
      shown = isBar || style == .json ? nil : now
    }
    let isDone = done == total && done != lastDone
    lastDone = done
    let interval: Duration = isBar ? .milliseconds(100) : style == .json ? .seconds(1) : .seconds(5)
    if let shown, now - shown < interval, !(isDone && (isBar || style == .json)) { return }
    shown = now
    let seconds = (now - started).timeInterval
    let rate = seconds > 0.2 && done > begun ? Double(done - begun) / seconds : nil
    if style == .json { return try say(phase ?? subject, model, done, total, rate) }
    let text = line(subject, done, total, rate)
    guard isBar else { return try session.say(text) }
    try session.messages.write("\r\u{1B}[K" + text)
    try session.messages.flush()
    hasBar = true
  }

  /// Removes the bar, or ends its line if bars stay.
  func finish() throws {
    if keepsBars { return try endBar() }
    try endBar(with: "\r\u{1B}[K")
  }

  private func endBar(with text: String = "\n") throws {
    guard hasBar else { return }
    hasBar = false
    try session.messages.write(text)
    try session.messages.flush()
  }

  private struct Event: Encodable {
    var event = "progress"
    var phase: String
    var model: String?
    var done: Int
    var total: Int?
    var rate: Double?
    var secondsLeft: Double?
  }

  private func say(_ phase: String, _ model: String?, _ done: Int, _ total: Int?, _ rate: Double?) throws {
    let left = rate.flatMap { rate in total.map { Double(max(0, $0 - done)) / rate } }
    try session.say(
      JSONReport.line(
        Event(phase: phase, model: model, done: done, total: total, rate: rate, secondsLeft: left)))
  }

  private func line(_ subject: String, _ done: Int, _ total: Int?, _ rate: Double?) -> String {
    var text = TerminalText.safe(subject)
    if let total, total > 0 {
      let share = min(1, Double(done) / Double(total))
      if isBar {
        let full = Int(share * Double(Self.barWidth))
        text += " [" + String(repeating: "█", count: full)
        text += String(repeating: "·", count: Self.barWidth - full) + "]"
      }
      text += " \(Int(share * 100)) % (\(done) of \(total))"
    } else {
      text += ": \(done)"
    }
    if let rate, rate > 0 {
      text += ", \(Int(rate))/s"
      if let total, done < total { text += ", \(Self.duration(Double(total - done) / rate)) left" }
    }
    return text
  }

  /// A short text of a duration.
  static func duration(_ seconds: Double) -> String {
    if seconds < 1 { return "\(Int((seconds * 1000).rounded())) ms" }
    if seconds < 10 { return "\((seconds * 10).rounded() / 10) s" }
    if seconds < 120 { return "\(Int(seconds.rounded())) s" }
    if seconds < 7200 { return "\(Int((seconds / 60).rounded())) min" }
    return "\((seconds / 360).rounded() / 10) h"
  }
}
