import Foundation

/// Opens stores in a worker process, reads them, writes to them and opens them again.
///
/// A process of its own, because a context may crash on what it finds.
struct StateSurvey {
  let context: ContextUnderTest
  let seed: UInt64

  /// What the context did with a store.
  enum Finding: Hashable {
    /// It opened, its parts agree, and a transaction that was added survived another opening; with the content that a
    /// read-only opening showed before, unless that threw.
    case content(digest: String, last: Int, glimpse: String?)
    /// What went wrong, in the words of a report.
    case fault(String)
  }

  /// Surveys stores, in order.
  func findings(_ stores: [StoreUnderTest]) throws -> [Finding] {
    guard let first = stores.first else { return [] }
    let list = try context.requireScratch().make("survey").appendingPathComponent("stores")
    try Data(stores.map(\.path).joined(separator: "\n").utf8).write(to: list)
    defer { try? FileManager.default.removeItem(at: list.deletingLastPathComponent()) }
    let worker = try first.worker("survey", "\(seed)", list.path, opening: .patient)
    let ending = worker.waitUntilOver()
    var findings: [Finding] = []
    var glimpse: String?
    for line in worker.lines {
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      guard words.count == 3 else { continue }
      if words[0] == "glimpse" { glimpse = words[2] }
      if words[0] == "fault" { findings.append(.fault(words[2])) }
      if words[0] == "content", let last = Int(words[1]) {
        findings.append(.content(digest: words[2], last: last, glimpse: glimpse))
      }
      if words[0] != "glimpse" { glimpse = nil }
    }
    if findings.count < stores.count {
      findings.append(
        .fault(
          ending.isSignal
            ? "the context crashed (signal \(ending.status)) when it opened or read the store"
            : "the worker ended with code \(ending.status): \(worker.lines.last ?? "")"))
    }
    return findings
  }
}
