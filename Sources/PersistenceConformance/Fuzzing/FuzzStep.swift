public import PersistenceCore

/// One step of a fuzzer's program.
///
/// Models are named by their position among the program's schemas.
///
/// A step that writes and stands outside a transaction is a transaction of its own. Inside one, a refused step
/// leaves no trace and the steps after it go on (contract W4).
public indirect enum FuzzStep: Sendable, Codable {
  /// How a transaction ends.
  public enum Ending: String, Sendable, Codable {
    /// It is kept.
    case commit
    /// Its closure throws.
    case rollback
  }

  /// Enters a model into the catalog.
  case define(Int)
  /// Inserts a row, its values in the order of the schema's fields.
  case insert(Int, [PersistentValue])
  /// Updates a row.
  case update(Int, [PersistentValue])
  /// Saves a row.
  case save(Int, [PersistentValue])
  /// Saves rows, one after the other, until one is refused.
  case saveMany(Int, [[PersistentValue]])
  /// Deletes the row of a key.
  case delete(Int, [PersistentValue])
  /// Deletes the rows of a request.
  case deleteRows(FuzzQuery)
  /// Sets fields of the rows of a request.
  case updateRows(FuzzQuery, set: [FieldAssignment])
  /// Deletes all rows of a model.
  case deleteAll(Int)
  /// Looks a row up by its key.
  case find(Int, [PersistentValue])
  /// Fetches the rows of a request, counts them, and asks the raw evaluator for them too.
  case fetch(FuzzQuery)
  /// Reads runs of one result, jumping from one to the next.
  case read(FuzzQuery, [Range<Int>])
  /// Fetches the rows of a request page by page, each after the last row of the one before.
  case walk(FuzzQuery, pageSize: Int)
  /// Looks at the typed collection of a request, which is one of the model `FuzzRecord`, from both ends and in the
  /// part given, and walks by pages with tokens; inside a transaction, which has no such collection, it does nothing.
  case collection(FuzzQuery, pageSize: Int, part: Range<Int>)
  /// Fetches the fields at some positions of the rows of a request, from the snapshot that is kept under a number
  /// where one is given, and counts them.
  case select(FuzzQuery, positions: [Int], snapshot: Int? = nil)
  /// Computes values over the rows of a request, group by group, in the snapshot that is kept under a number where
  /// one is given.
  case aggregate(FuzzQuery, by: [String] = [], [Aggregate], snapshot: Int? = nil)
  /// Fetches a result and keeps it under a number.
  case holdResult(Int, FuzzQuery)
  /// Takes a snapshot and keeps it under a number.
  case holdSnapshot(Int)
  /// Reads all of what is kept under a number; nothing where nothing is.
  case readHeld(Int)
  /// Fetches the rows of a request from the snapshot that is kept under a number; nothing where none is.
  case fetchHeld(Int, FuzzQuery)
  /// Releases what is kept under a number.
  case release(Int)
  /// Releases all that is kept, and closes and opens the store where it is durable.
  case reopen
  /// Steps as one transaction, nested where it stands in another.
  case transaction([FuzzStep], Ending)

  /// How many operations the step counts as: one, and those within it.
  var operations: Int {
    if case .transaction(let steps, _) = self { return steps.reduce(1) { $0 + $1.operations } }
    return 1
  }

  /// Whether the store may hold something else afterwards.
  var changesStore: Bool {
    switch self {
    case .define, .insert, .update, .save, .saveMany, .delete, .deleteRows, .updateRows, .deleteAll, .reopen,
      .transaction:
      true
    case .find, .fetch, .read, .walk, .collection, .select, .aggregate, .holdResult, .holdSnapshot, .readHeld,
      .fetchHeld,
      .release:
      false
    }
  }

  /// The step's name, for reports.
  var name: String {
    switch self {
    case .define: "define"
    case .insert: "insert"
    case .update: "update"
    case .save: "save"
    case .saveMany: "saveMany"
    case .delete: "delete"
    case .deleteRows: "deleteRows"
    case .updateRows: "updateRows"
    case .deleteAll: "deleteAll"
    case .find: "find"
    case .fetch: "fetch"
    case .read: "read"
    case .walk: "walk"
    case .collection: "collection"
    case .select: "select"
    case .aggregate: "aggregate"
    case .holdResult: "holdResult"
    case .holdSnapshot: "holdSnapshot"
    case .readHeld: "readHeld"
    case .fetchHeld: "fetchHeld"
    case .release: "release"
    case .reopen: "reopen"
    case .transaction: "transaction"
    }
  }
}
