import PersistenceDriver

/// One model's way: what it is called and looks like in the source and in the destination, and how its records change
/// in between.
struct ModelRoute: Sendable {
  /// The model as the source has it.
  var source: ModelSchema { mapper.source }
  /// The model as the destination is to have it.
  var destination: ModelSchema { mapper.destination }
  /// What makes the one of the other.
  let mapper: RecordMapper
}
