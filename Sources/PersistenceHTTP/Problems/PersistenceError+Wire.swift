package import PersistenceDriver

extension PersistenceError.Code {
  /// A model that the server's store does not hold; a client of ours never shows it.
  package static let unknownModel = Self(rawValue: "unknownModel")
}
