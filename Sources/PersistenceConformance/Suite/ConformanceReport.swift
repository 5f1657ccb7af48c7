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

extension ConformanceReport.Outcome {
  /// Whether the context passed.
  public var isHeld: Bool { if case .held = self { true } else { false } }

  /// The capability that excuses the context; nil for other outcomes.
  public var excuse: String? { if case .excused(let capability) = self { capability } else { nil } }

  /// Whether the context failed.
  public var isBroken: Bool { if case .broken = self { true } else { false } }

  /// Whether the context was excused.
  public var isExcused: Bool { if case .excused = self { true } else { false } }
}

extension ConformanceReport.Outcome: Codable {
  private enum CodingKeys: String, CodingKey { case result, failure, capability }

  /// Decodes an outcome.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decode(String.self, forKey: .result) {
    case "held": self = .held
    case "broken": self = .broken(try container.decode(ConformanceFailure.self, forKey: .failure))
    case "excused": self = .excused(by: try container.decode(String.self, forKey: .capability))
    case let other:
      throw DecodingError.dataCorruptedError(
        forKey: .result, in: container, debugDescription: "\(other) is not an outcome")
    }
  }

  /// Encodes the outcome as `result`, with its `failure` or `capability`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .held: try container.encode("held", forKey: .result)
    case .broken(let failure):
      try container.encode("broken", forKey: .result)
      try container.encode(failure, forKey: .failure)
    case .excused(let capability):
      try container.encode("excused", forKey: .result)
      try container.encode(capability, forKey: .capability)
    }
  }
}
