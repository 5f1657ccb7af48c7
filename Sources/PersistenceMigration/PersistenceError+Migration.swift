public import PersistenceDriver

extension PersistenceError.Code {
  /// A migration was to write to a store that holds records already.
  public static let destinationNotEmpty = Self(rawValue: "destinationNotEmpty")
  /// A copy does not hold what its source holds.
  public static let verificationFailed = Self(rawValue: "verificationFailed")
  /// There is no unfinished migration to resume in the destination.
  public static let notResumable = Self(rawValue: "notResumable")
  /// The unfinished migration in the destination is another one: of another source, other models, another mapping or
  /// other options.
  public static let otherMigration = Self(rawValue: "otherMigration")
  /// The part of the source that has been copied is no longer what it was.
  public static let sourceChanged = Self(rawValue: "sourceChanged")
  /// The part of the destination that has been written is no longer what was written.
  public static let destinationChanged = Self(rawValue: "destinationChanged")
  /// More records were put aside than may be.
  public static let tooManyRejects = Self(rawValue: "tooManyRejects")
  /// The destination cannot hold some values as they are.
  public static let lossyMigration = Self(rawValue: "lossyMigration")
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
