import PersistenceDriver
import PersistenceDriverSupport

/// A table that holds a model, with a cache of the declarations that have been used with it.
final class PostgresTable: Sendable {
  let layout: PostgresLayout

  /// The layout as the catalog has it, to detect changes.
  let definition: String

  /// The table as another program made it; nil for one of this package.
  let foreign: PostgresForeignTable?

  private let models = Lock<[PostgresModel]>([])

  /// How many declarations to cache; programs that make thousands of schemas make equal ones.
  private static let modelLimit = 200

  init(_ layout: PostgresLayout, definition: String, foreign: PostgresForeignTable? = nil) {
    self.foreign = foreign
    self.layout = layout
    self.definition = definition
  }

  /// The schema of the model in the store.
  var schema: ModelSchema { layout.schema }

  /// A declaration mapped to this table; throws if it contradicts the table.
  func model(for declared: ModelSchema, store: PostgresStore) throws -> PostgresModel {
    let identity = declared.identity
    let known = models.withLock { models in models.first { $0.schema.identity == identity } }
    if let known { return known }
    // A program that makes its schema anew each time shares the model of the first, equal schema.
    let equal = models.withLock { models in models.first { $0.schema == declared } }
    if let equal { return equal }
    try declared.requireCompatible(with: schema, location: store.location)
    let model = PostgresModel(declared, in: self, number: store.nextModelNumber())
    models.withLock { models in
      if models.count >= Self.modelLimit { models.removeAll() }
      models.append(model)
    }
    return model
  }
}
