import PersistenceDriver
import PersistenceDriverSupport

extension JSONDirectoryReader {
  /// No index: the cache of indexed values is filled as requests read files, and each entry is validated by its file.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] { [] }

  /// The cost of a change: only computed, erased or replaced values, and reused names, rewrite files.
  public func cost(of change: SchemaChange) throws -> EvolutionCost {
    try mappingErrors(location: location) {
      let (source, catalog) = try reading()
      let model = try catalog.model(for: change, location: location)
      let outcome = try containsReplacedNil(change) ? .rewritten : ModelPast.after(change, model.past)
      let cost: EvolutionCost
      if case .kept = outcome {
        guard !change.indexesToBuild.isEmpty else { return .catalog }
        cost = .indexes
      } else {
        cost = .rewrite
      }
      let files = RecordFiles(change.stored, in: model, of: source, location: location)
      return try files.names().isEmpty ? .catalog : cost
    }
  }
}
