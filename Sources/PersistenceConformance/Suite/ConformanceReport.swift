/// What a run of the suite found out about a context.
public struct ConformanceReport: Sendable, Codable {
  /// How a check ended.
  public enum Outcome: Sendable {
    /// The context keeps what the check asks for.
    case held
    /// It does not.
    case broken(ConformanceFailure)
    /// A declared capability excuses it.
    case excused(by: String)
  }

  /// One check and how it ended.
  public struct Entry: Sendable, Codable {
    /// What must hold.
    public let title: String
    /// The rules of the contract that were checked.
    public let rules: [ContractRule]
    /// How it ended.
    public let outcome: Outcome
    /// How long it took.
    public let seconds: Double
  }

  /// The name of the context.
  public let context: String

  /// The checks, in the order they were run.
  public internal(set) var entries: [Entry] = []

  init(context: String) { self.context = context }
}

extension ConformanceReport {
  /// Whether at least one check was run, and none was broken.
  public var isConforming: Bool { count(where: \.isHeld) > 0 && count(where: \.isBroken) == 0 }

  /// How many checks ended in a way.
  public func count(where fits: (Outcome) -> Bool) -> Int { entries.count { fits($0.outcome) } }

  /// The checks of a rule.
  public func entries(of rule: ContractRule) -> [Entry] { entries.filter { $0.rules.contains(rule) } }
}

extension ConformanceReport.Outcome {
  /// Whether the check held.
  public var isHeld: Bool { if case .held = self { true } else { false } }

  /// The capability that excuses; nil where none had to.
  public var excuse: String? { if case .excused(let capability) = self { capability } else { nil } }

  /// Whether the check was broken.
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
        forKey: .result, in: container, debugDescription: "no outcome is called \(other)")
    }
  }

  /// Encodes the outcome as `result`, with the `failure` or the `capability` beside it.
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
