public import PersistenceDriver

extension PersistenceError.Code {
  /// A migration was to write to a store that holds records already.
  public static let destinationNotEmpty = Self(rawValue: "destinationNotEmpty")
  /// A copy does not hold what its source holds.
  public static let verificationFailed = Self(rawValue: "verificationFailed")
}

extension PersistenceError {
  static func destinationNotEmpty(_ model: String, count: Int, location: String) -> PersistenceError {
    PersistenceError(
      .destinationNotEmpty,
      "the destination holds \(count) records of \(model); nothing was written; name an empty one, or remove "
        + "what it holds", model: model, location: location)
  }

  static func verificationFailed(_ model: String, _ reason: String, location: String) -> PersistenceError {
    PersistenceError(
      .verificationFailed,
      "the copy of \(model) is not what the source holds: \(reason); do not use the destination",
      model: model,
      location: location)
  }
}
