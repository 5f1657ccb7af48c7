import PersistenceCore

/// What a store may contain, by the lines that its worker printed: the transactions that were acknowledged, and those
/// whose outcome is open.
struct CommitHistory: Sendable {
  /// Every possible list of applied transactions, by their numbers.
  private(set) var outcomes: [[Int]] = [[]]
  /// The transaction that has begun and not ended.
  private(set) var running: Int?

  /// The most possible lists; an open outcome doubles them.
  private static let limit = 64

  /// Takes a line of the worker.
  mutating func take(_ line: String) {
    let words = line.split(separator: " ")
    guard words.count >= 2, let number = Int(words[1]) else { return }
    switch words[0] {
    case "begin": running = number
    // A reader saw the transaction, so it counts as acknowledged.
    case "ack", "seen": confirm(number)
    case "refused":
      running = nil
      let isOpen = words.count > 2 && words[2] == PersistenceError.Code.outcomeUnknown.rawValue
      if isOpen, outcomes.count < Self.limit { outcomes += outcomes.map { $0 + [number] } }
    default: break
    }
  }

  private mutating func confirm(_ number: Int) {
    if running == number { running = nil }
    outcomes = outcomes.map { $0.last == number ? $0 : $0 + [number] }
  }

  /// Every list that a store may have: the transaction under way is whole or absent.
  var candidates: [[Int]] { outcomes + (running.map { number in outcomes.map { $0 + [number] } } ?? []) }

  /// The numbers that a store must have, whatever the open outcomes.
  var required: Set<Int> {
    outcomes.dropFirst().reduce(Set(outcomes.first ?? [])) { $0.intersection($1) }
  }
}

extension CommitScript {
  /// Returns the content after a list of transactions.
  func state(after numbers: [Int]) throws -> State {
    var state = State()
    for number in numbers { try apply(number, to: &state) }
    return state
  }
}

extension CommitScript.State {
  /// The content as a short text, which is equal for equal contents.
  var digest: String {
    let accounts = accounts.values.sorted { $0.id < $1.id }.map { "\($0)" }
    let people = people.values.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }.map { "\($0)" }
    let text = Array((accounts + people).joined(separator: "\n").utf8)
    return "\(text.count)-\(text.withUnsafeBytes(Checksum.of))"
  }
}
