public import PersistenceDriver

extension PersistenceError.Code {
  /// The destination of a migration already holds records.
  public static let destinationNotEmpty = Self(rawValue: "destinationNotEmpty")
  /// A copy differs from its source.
  public static let verificationFailed = Self(rawValue: "verificationFailed")
  /// The destination holds no unfinished migration to resume.
  public static let notResumable = Self(rawValue: "notResumable")
  /// The unfinished migration in the destination has another source, other models, another mapping or other options.
  public static let otherMigration = Self(rawValue: "otherMigration")
  /// The copied part of the source has changed.
  public static let sourceChanged = Self(rawValue: "sourceChanged")
  /// The written part of the destination has changed.
  public static let destinationChanged = Self(rawValue: "destinationChanged")
  /// A migration exceeded the maximum number of rejects.
  public static let tooManyRejects = Self(rawValue: "tooManyRejects")
  /// The destination cannot store some values exactly.
  public static let lossyMigration = Self(rawValue: "lossyMigration")
}

extension PersistenceError {
  static func destinationNotEmpty(_ model: String, count: Int, location: String) -> PersistenceError {
    PersistenceError(
      .destinationNotEmpty,
      "the destination already holds \(count) records of \(model); nothing was written; choose an empty destination "
        + "or delete the records", model: model, location: location)
  }

  static func notResumable(_ location: String) -> PersistenceError {
    PersistenceError(
      .notResumable,
      "the destination holds no unfinished migration to resume: it was finished or never started; nothing was changed",
      location: location)
  }

  static func otherMigration(_ difference: String, location: String) -> PersistenceError {
    PersistenceError(
      .otherMigration,
      "the destination holds a different unfinished migration: \(difference); resume it with its own options, or "
        + "restart", location: location)
  }

  static func sourceChanged(_ model: String, _ reason: String, location: String) -> PersistenceError {
    PersistenceError(
      .sourceChanged,
      "the copied part of \(model) has changed in the source: \(reason); nothing was written; restart the migration",
      model: model, location: location)
  }

  static func destinationChanged(_ model: String, _ reason: String, location: String) -> PersistenceError {
    PersistenceError(
      .destinationChanged,
      "the copied part of \(model) has changed in the destination: \(reason); nothing was written; restart the "
        + "migration", model: model, location: location)
  }

  static func tooManyRejects(_ limit: Int, last: MigrationReject, location: String) -> PersistenceError {
    PersistenceError(
      .tooManyRejects,
      "more than \(limit) records were rejected, the last one number \(last.position) of \(last.model) with "
        + "\(last.code): \(last.reason); resume with a higher limit",
      model: last.model, key: last.key, location: location)
  }

  static func verificationFailed(_ model: String, _ reason: String, location: String) -> PersistenceError {
    PersistenceError(
      .verificationFailed,
      "the copy of \(model) differs from the source: \(reason); do not use the destination",
      model: model, location: location)
  }
}
