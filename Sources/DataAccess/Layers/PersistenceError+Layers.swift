public import PersistenceDriver

extension PersistenceError.Code {
  /// The authoritative layer made a write, but not every other layer did.
  ///
  /// Those layers mark the keys as stale until they are refreshed. Do not repeat the write.
  public static let incompleteWrite = Self(rawValue: "incompleteWrite")
}

extension PersistenceError {
  static func timedOut(_ layer: DataSourceLayer, after timeout: Duration) -> PersistenceError {
    PersistenceError(
      .timedOut,
      "the \(layer.rawValue) layer did not answer within \(timeout); a write may have happened")
  }

  /// No layer returned a complete answer.
  static func noAnswer(_ failures: [LayerFailure], incompleteLayers: [DataSourceLayer]) -> PersistenceError {
    var reasons = failures.map { "the \($0.layer.rawValue) layer: \($0.error.message)" }
    reasons += incompleteLayers.map { "the \($0.rawValue) layer holds only a part of the answer" }
    let first = failures.first { $0.layer == .remote } ?? failures.first
    var error = first?.error ?? PersistenceError(.unreachable, "")
    error.message = "no layer could answer: " + reasons.joined(separator: "; ")
    return error
  }

  /// A write that some layers missed.
  static func incompleteWrite(_ failures: [LayerFailure], doneIn layer: DataSourceLayer) -> PersistenceError {
    let reasons = failures.map {
      "the \($0.layer.rawValue) layer failed (\($0.error.code.rawValue): \($0.error.message))"
    }
    return PersistenceError(
      .incompleteWrite,
      "the \(layer.rawValue) layer made the write, but " + reasons.joined(separator: ", and ")
        + "; do not repeat the write, since stale objects are refreshed by the next read",
      model: failures.first?.error.model, key: failures.first?.error.key)
  }
}
