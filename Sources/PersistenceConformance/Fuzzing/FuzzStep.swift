public import PersistenceCore

/// One step of a fuzzer's program.
///
/// Steps refer to models by their position in the program's schemas.
///
/// A write outside a transaction is a transaction of its own. Inside one, a rejected step leaves no trace,
/// and the next steps continue (contract W4).
public indirect enum FuzzStep: Sendable, Codable {
  /// How a transaction ends.
  public enum Ending: String, Sendable, Codable {
    /// It commits.
    case commit
    /// Its closure throws.
    case rollback
  }

  /// Enters a model into the catalog.
  case define(Int)
  /// Changes a model's stored schema.
  case evolve(Int, FuzzChange)
  /// Inserts a row, its values in the order of the schema's fields.
  case insert(Int, [PersistentValue])
  /// Updates a row.
  case update(Int, [PersistentValue])
  /// Saves a row.
  case save(Int, [PersistentValue])
  /// Saves rows in sequence, until one is rejected.
  case saveMany(Int, [[PersistentValue]])
  /// Deletes the row of a key.
  case delete(Int, [PersistentValue])
  /// Deletes the rows of a request.
  case deleteRows(FuzzQuery)
  /// Sets fields of the rows of a request.
  case updateRows(FuzzQuery, set: [FieldAssignment])
  /// Deletes all rows of a model.
  case deleteAll(Int)
  /// Finds a row by its key.
  case find(Int, [PersistentValue])
  /// Fetches and counts the rows of a request, and compares them with the raw evaluator.
  case fetch(FuzzQuery)
  /// Reads parts of one result at different positions.
  case read(FuzzQuery, [Range<Int>])
  /// Fetches the rows of a request page by page, each after the last row of the previous page.
  case pages(FuzzQuery, pageSize: Int)
  /// Fetches and counts the rows of a request, sorted first by a field of related records, at once and page by page.
  case sorted(FuzzQuery, by: RelatedField, isDescending: Bool, pageSize: Int)
  /// Reads the typed collection of a request for the model `FuzzRecord`, from both ends and in a part, and
  /// pages with tokens.
  ///
  /// It does nothing inside a transaction, which has no such collection.
  case collection(FuzzQuery, pageSize: Int, part: Range<Int>)
  /// Fetches and counts selected fields of the rows of a request, from a stored snapshot if one is given.
  case select(FuzzQuery, positions: [Int], snapshot: Int? = nil)
  /// Computes aggregates over the rows of a request, from a stored snapshot if one is given.
  case aggregate(FuzzQuery, by: [String] = [], [Aggregate], snapshot: Int? = nil)
  /// Fetches a result and stores it under a number.
  case holdResult(Int, FuzzQuery)
  /// Takes a snapshot and stores it under a number.
  case holdSnapshot(Int)
  /// Reads the result or snapshot stored under a number, if there is one.
  case readHeld(Int)
  /// Fetches the rows of a request from the snapshot stored under a number, if there is one.
  case fetchHeld(Int, FuzzQuery)
  /// Releases the result or snapshot stored under a number.
  case release(Int)
  /// Releases all results and snapshots, and reopens the store if it is durable.
  case reopen
  /// Runs a read or a write of one model as a program whose declaration may differ from the stored schema.
  case declared(FuzzWords, FuzzStep)
  /// Runs a read that is interrupted at a check, unless it ends before; its answer does not count, only what it leaves behind
  /// (contract R5).
  case interrupted(FuzzStep, atCheck: Int)
  /// Runs steps as one transaction, nested inside another if there is one.
  case transaction([FuzzStep], Ending)

  /// The number of operations: one, and those within the step.
  var operations: Int {
    if case .transaction(let steps, _) = self { return steps.reduce(1) { $0 + $1.operations } }
    return 1
  }

  /// The changes of schema of the step and of those within it.
  var changes: [(model: Int, change: FuzzChange)] {
    switch self {
    case .evolve(let model, let change): [(model, change)]
    case .transaction(let steps, _): steps.flatMap(\.changes)
    default: []
    }
  }

  /// Whether the step may change the store.
  var changesStore: Bool {
    switch self {
    case .define, .evolve, .insert, .update, .save, .saveMany, .delete, .deleteRows, .updateRows, .deleteAll,
      .reopen, .transaction:
      true
    case .declared(_, let step): step.changesStore
    case .find, .fetch, .read, .pages, .sorted, .collection, .select, .aggregate, .holdResult, .holdSnapshot,
      .readHeld, .fetchHeld, .release, .interrupted:
      false
    }
  }

  var name: String {
    if case .declared(_, let step) = self { return step.name }
    return Mirror(reflecting: self).children.first?.label ?? "\(self)"
  }
}
