/// The result of a run of the suite on one context.
public struct ConformanceReport: Sendable, Codable {
  /// The outcome of a check.
  public enum Outcome: Sendable {
    /// The context passed.
    case held
    /// The context failed.
    case broken(ConformanceFailure)
    /// A declared capability excuses the context.
    case excused(by: String)
  }

  /// One check and its outcome.
  public struct Entry: Sendable, Codable {
    /// What must hold.
    public let title: String
    /// The rules that the check covers.
    public let rules: [ContractRule]
    /// The outcome.
    public let outcome: Outcome
    /// The duration, in seconds.
    public let seconds: Double
    /// How often a check that passed did what it is made of, such as `["kills": 20]`; empty for most checks.
    public let counts: [String: Int]
  }

  /// The name of the context.
  public let context: String

  /// The checks, in the order of their run.
  public internal(set) var entries: [Entry] = []

  init(context: String) { self.context = context }
}

extension ConformanceReport {
  /// Whether at least one check ran and none failed.
  public var isConforming: Bool { count(where: \.isHeld) > 0 && count(where: \.isBroken) == 0 }

  /// Returns the number of checks with a certain outcome.
  public func count(where matches: (Outcome) -> Bool) -> Int { entries.count { matches($0.outcome) } }

  /// Returns the checks of a rule.
  public func entries(of rule: ContractRule) -> [Entry] { entries.filter { $0.rules.contains(rule) } }
}
