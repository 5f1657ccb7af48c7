import PersistenceDriver
import PersistenceMigration

/// Shows how far long work has come: a bar on a terminal, a plain line every few seconds elsewhere.
final class ProgressDisplay {
  /// How progress is shown.
  enum Style: String, CaseIterable {
    /// A bar on a terminal, plain lines elsewhere.
    case auto
    /// Plain lines.
    case plain
    /// Not at all.
    case none
  }

  private static let barWidth = 24

  private let session: ToolSession
  private let isBar: Bool
  private let isSilent: Bool
  private var shown: ContinuousClock.Instant?
  private var started: ContinuousClock.Instant = .now
  private var subject = ""
  private var hasBar = false

  init(_ session: ToolSession, style: Style = .auto) {
    self.session = session
    isBar = style == .auto && session.messages.isTerminal
    isSilent = style == .none
  }

  /// Shows where the work stands, and stops it where the user has asked to.
  func update(_ progress: MigrationProgress) throws {
    try session.checkInterrupt()
    let verb =
      switch progress.phase {
      case .resuming: "checking"
      case .copying: "copying"
      case .indexing: "indexing"
      case .verifying: "verifying"
      case .comparing: "comparing"
      }
    try update("\(verb) \(progress.model)", done: progress.done, total: progress.total)
  }

  /// Shows where the work stands.
  func update(_ subject: String, done: Int, total: Int?) throws {
    guard !isSilent else { return }
    let now = ContinuousClock.now
    if subject != self.subject {
      self.subject = subject
      started = now
      shown = isBar ? nil : now
    }
    let interval: Duration = isBar ? .milliseconds(100) : .seconds(5)
    if let shown, now - shown < interval, !(isBar && done == total) { return }
    shown = now
    let seconds = (now - started).timeInterval
    let rate = seconds > 0.2 ? Double(done) / seconds : nil
    let text = line(subject, done, total, rate)
    guard isBar else { return try session.say(text) }
    try session.messages.write("\r\u{1B}[K" + text)
    try session.messages.flush()
    hasBar = true
  }

  /// Clears the bar.
  func finish() throws {
    guard hasBar else { return }
    hasBar = false
    try session.messages.write("\r\u{1B}[K")
    try session.messages.flush()
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
      text += ", \(Int(rate)) a second"
      if let total, done < total { text += ", \(Self.duration(Double(total - done) / rate)) left" }
    }
    return text
  }

  /// A duration in words that are short.
  static func duration(_ seconds: Double) -> String {
    if seconds < 1 { return "\(Int((seconds * 1000).rounded())) ms" }
    if seconds < 10 { return "\((seconds * 10).rounded() / 10) s" }
    if seconds < 120 { return "\(Int(seconds.rounded())) s" }
    return "\(Int((seconds / 60).rounded())) min"
  }
}
