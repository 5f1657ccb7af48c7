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
