public import PersistenceDriver

/// A comparison of two stores, of any engines: schemas, counts, digests, and record by record.
///
/// Each side is read once, from one snapshot, a page at a time in the order of the primary keys; the records of
/// both sides meet in that order, so no more than two pages of keys are held in memory.
public struct StoreComparison: Sendable {
  /// One store.
  public let left: any StorageContext
  /// The other.
  public let right: any StorageContext
  /// How many differing records of a model are reported one by one; all are counted.
  public let differenceLimit: Int

  /// Prepares a comparison.
  ///
  /// - Parameters:
  ///   - left: One store.
  ///   - right: The other.
  ///   - differenceLimit: How many differing records of a model are reported one by one.
  public init(_ left: any StorageContext, _ right: any StorageContext, differenceLimit: Int = 100) {
    self.left = left
    self.right = right
    self.differenceLimit = differenceLimit
  }

  /// Compares.
  ///
  /// - Parameter progress: Told how far the work has come; what it throws stops the comparison and is thrown on.
  /// - Returns: What was found.
  /// - Throws: ``PersistenceError`` where a store cannot be read.
  public func run(_ progress: (MigrationProgress) throws -> Void = { _ in }) throws -> ComparisonReport {
    let (leftSnapshot, rightSnapshot) = (try left.snapshot(), try right.snapshot())
    let leftSchemas = try Self.byName(leftSnapshot.catalog())
    let rightSchemas = try Self.byName(rightSnapshot.catalog())
    var models: [ComparisonReport.Model] = []
    for name in Set(leftSchemas.keys).union(rightSchemas.keys).sorted() {
      switch (leftSchemas[name], rightSchemas[name]) {
      case (let leftSchema?, let rightSchema?):
        let comparison = ModelComparison(
          leftSchema, in: leftSnapshot, rightSchema, in: rightSnapshot, differenceLimit: differenceLimit)
        models.append(try comparison.run(progress))
      case (let schema?, nil):
        models.append(try Self.alone(schema, .onlyLeft, in: leftSnapshot, progress))
      case (nil, let schema?):
        models.append(try Self.alone(schema, .onlyRight, in: rightSnapshot, progress))
      case (nil, nil): break
      }
    }
    return ComparisonReport(models: models)
  }

  private static func byName(_ schemas: [ModelSchema]) -> [StoredName: ModelSchema] {
    // What this package keeps for itself is no data of the store's.
    let own = schemas.filter { !ReservedModel.isReserved($0.name) }
    return Dictionary(own.map { (StoredName($0.name), $0) }) { first, _ in first }
  }

  private static func alone(
    _ schema: ModelSchema, _ presence: ComparisonReport.Presence, in reader: any StorageReader,
    _ progress: (MigrationProgress) throws -> Void
  ) throws -> ComparisonReport.Model {
    let total = try reader.count(try FetchRequest(schema))
    let content = try StoreContent.read(schema, from: reader, total: total, phase: .comparing, progress)
    let side = ComparisonReport.Side(count: content.count, digest: content.digest)
    var model = ComparisonReport.Model(name: schema.name, presence: presence)
    if presence == .onlyLeft {
      (model.left, model.onlyLeft) = (side, side.count)
    } else {
      (model.right, model.onlyRight) = (side, side.count)
    }
    return model
  }
}
