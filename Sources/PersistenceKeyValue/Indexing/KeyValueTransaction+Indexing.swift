package import PersistenceDriver

extension KeyValueTransaction {
  package func defineDeferringIndexes(_ schema: ModelSchema) throws {
    try define(schema, indexing: schema.indexes.isEmpty ? .built : .awaited)
  }

  package func buildIndexes(of schema: ModelSchema) throws -> Bool {
    try requireOpen()
    guard let binding = try binding(schema), binding.model.indexing != .built else { return true }
    let build =
      try store.takeBuild(of: binding.model)
      ?? IndexBuild(binding, writer, store.indexBuilding, location: store.location)
    let isFinished = try attempt { try build.write(to: writer, prefix: binding.prefix) }
    try enter(binding.model, indexing: isFinished ? .built : .begun(build.token))
    if !isFinished { store.keep(build) }
    return isFinished
  }

  /// The binding of a model whose records are about to change: what has been built of its indexes is taken back, since
  /// it would say something else of them.
  func changingBinding(_ schema: ModelSchema) throws -> ModelBinding? {
    guard let binding = try binding(schema) else { return nil }
    guard case .begun = binding.model.indexing else { return binding }
    try attempt {
      try binding.prefix.withUnsafeBytes { try writer.removeAll(beginningWith: $0, in: .indexes) }
    }
    try enter(binding.model, indexing: .awaited)
    return try self.binding(schema)
  }
}
