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

  static func notResumable(_ location: String) -> PersistenceError {
    PersistenceError(
      .notResumable,
      "there is no unfinished migration in the destination to resume: it was finished, or never begun; nothing was "
        + "changed", location: location)
  }

  static func otherMigration(_ difference: String, location: String) -> PersistenceError {
    PersistenceError(
      .otherMigration,
      "the unfinished migration in the destination is another one: \(difference); resume it as it was begun, or begin "
        + "anew with --restart", location: location)
  }

  static func sourceChanged(_ model: String, _ reason: String, location: String) -> PersistenceError {
    PersistenceError(
      .sourceChanged,
      "the part of \(model) that had been copied has changed in the source: \(reason); nothing was changed; begin "
        + "anew with --restart", model: model, location: location)
  }

  static func destinationChanged(_ model: String, _ reason: String, location: String) -> PersistenceError {
    PersistenceError(
      .destinationChanged,
      "the part of \(model) that had been copied has changed in the destination: \(reason); nothing was changed; "
        + "begin anew with --restart", model: model, location: location)
  }

  static func tooManyRejects(_ most: Int, last: MigrationReject, location: String) -> PersistenceError {
    PersistenceError(
      .tooManyRejects,
      "more than \(most) records were to be put aside, the last one number \(last.position) of \(last.model) for "
        + "\(last.code): \(last.reason); the migration can be resumed with a greater --max-rejects",
      model: last.model, key: last.key, location: location)
  }

  static func verificationFailed(_ model: String, _ reason: String, location: String) -> PersistenceError {
    PersistenceError(
      .verificationFailed,
      "the copy of \(model) is not what the source holds: \(reason); do not use the destination",
      model: model,
      location: location)
  }
}
