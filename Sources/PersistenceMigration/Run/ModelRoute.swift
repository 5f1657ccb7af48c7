import PersistenceDriver

/// One model's way: what it is called and looks like in the source and in the destination.
struct ModelRoute: Sendable {
  /// The model as the source has it.
  let source: ModelSchema
  /// The model as the destination is to have it.
  let destination: ModelSchema
}
