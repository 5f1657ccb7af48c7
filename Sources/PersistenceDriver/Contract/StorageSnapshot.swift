/// A store as it was at one moment, for all its models, until it is released (contract R2).
///
/// It may be used by several threads at once.
public protocol StorageSnapshot: StorageReader, Sendable {}
