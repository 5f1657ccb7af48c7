public import PersistenceDriver
import PersistenceDriverSupport

/// A comparison of two stores of any engines: schemas, counts, digests and records.
///
/// The comparison merges two scans in primary key order, each over one snapshot, so that memory holds at most one page of
/// keys per store.
public struct StoreComparison: Sendable {
  /// The left store.
  public let left: any StorageContext
  /// The right store.
  public let right: any StorageContext
  /// The maximum number of reported differences per model; the counts include all.
  public let differenceLimit: Int

  /// Creates a comparison.
  ///
  /// - Parameters:
  ///   - left: The left store.
  ///   - right: The right store.
  ///   - differenceLimit: The maximum number of reported differences per model.
  public init(_ left: any StorageContext, _ right: any StorageContext, differenceLimit: Int = 100) {
    self.left = left
    self.right = right
    self.differenceLimit = differenceLimit
  }

  /// Compares the stores.
  ///
  /// - Parameter progress: A closure that receives the progress. If it throws, the comparison stops and rethrows the error.
  /// - Returns: The report.
  /// - Throws: ``PersistenceError`` if a store cannot be read.
  public func run(_ progress: (StoreProgress) throws -> Void = { _ in }) throws -> ComparisonReport {
    let (leftSnapshot, rightSnapshot) = (
      try left.snapshot().hidingRemovedFields(), try right.snapshot().hidingRemovedFields()
    )
    let leftSchemas = try Self.byName(leftSnapshot.catalog())
    let rightSchemas = try Self.byName(rightSnapshot.catalog())
    var models: [ComparisonReport.Model] = []
    for name in Set(leftSchemas.keys).union(rightSchemas.keys).sorted() {
      switch (leftSchemas[name], rightSchemas[name]) {
      case (let leftSchema?, let rightSchema?):
        let comparison = ModelComparison(
          leftSchema: leftSchema, leftReader: leftSnapshot, rightSchema: rightSchema,
          rightReader: rightSnapshot, differenceLimit: differenceLimit)
        models.append(try comparison.run(progress))
      case (let schema?, nil):
        models.append(try Self.single(schema, .onlyLeft, in: leftSnapshot, progress))
      case (nil, let schema?):
        models.append(try Self.single(schema, .onlyRight, in: rightSnapshot, progress))
      case (nil, nil): break
      }
    }
    return ComparisonReport(models: models)
  }

  private static func byName(_ schemas: [ModelSchema]) -> [StoredName: ModelSchema] {
    // Reserved models are bookkeeping, not data.
    let own = schemas.filter { !$0.isReserved }
    return Dictionary(own.map { (StoredName($0.name), $0) }) { first, _ in first }
  }

  private static func single(
    _ schema: ModelSchema, _ presence: ComparisonReport.Presence, in reader: any StorageReader,
    _ progress: (StoreProgress) throws -> Void
  ) throws -> ComparisonReport.Model {
    let side = try ModelContent.read(schema, from: reader, phase: .comparing, progress).side
    var model = ComparisonReport.Model(name: schema.name, presence: presence)
    if presence == .onlyLeft {
      (model.left, model.onlyLeft) = (side, side.count)
    } else {
      (model.right, model.onlyRight) = (side, side.count)
    }
    return model
  }
}
