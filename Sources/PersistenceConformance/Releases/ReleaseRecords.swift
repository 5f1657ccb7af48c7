import Foundation
import PersistenceCore
import PersistenceDriverSupport

/// Records of a release: the edge values of each field's kind, then random ones.
struct ReleaseRecords {
  private static let randomCount = 20
  private static let keyCount = 60

  private var generator: FuzzGenerator
  /// The values of fields that cannot have any value of their kind, by model and field.
  private let values: [String: [PersistentValue]]
  /// The keys of each model that others refer to, by the release's name.
  private var keys: [String: [PersistentValue]] = [:]

  init(seed: UInt64, _ capabilities: Capabilities, values: [String: [PersistentValue]]) {
    generator = FuzzGenerator(
      seed: seed, isLarge: false, isTyped: false, limits: FuzzLimits([capabilities]))
    self.values = values
  }

  /// Inserts the records of one model, without those that a unique index or a limit of the engine rejects.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - lineage: What becomes of the model.
  ///   - targets: The release's model that each field refers to, now or later, by position.
  ///   - transaction: The transaction, which does not check references.
  /// - Throws: ``PersistenceError`` if the engine rejects a record for another reason.
  mutating func insert(
    _ model: SchemaDocument.Model, _ lineage: FieldLineage, targets: [Int: SchemaDocument.Model],
    in transaction: any StorageTransaction
  ) throws {
    let schema = try model.declaration.schema
    var pools: [[PersistentValue]] = []
    for (position, field) in schema.fields.enumerated() {
      if let given = given(lineage.names(of: position, model)) {
        pools.append(given)
      } else if let target = targets[position] {
        pools.append(try keys(of: target))
      } else if schema.keyPositions == [position] {
        pools.append(try keys(of: model))
      } else if schema.keyPositions.contains(position) {
        pools.append(
          Self.edges(field.kind).map(FuzzValue.stored) + generator.keyPool(field.kind, Self.keyCount))
      } else {
        pools.append(
          Self.edges(field.kind).map(FuzzValue.stored) + generator.pool(field.kind, Self.randomCount))
      }
    }
    let count = (pools.map(\.count).max() ?? 0) + Self.randomCount
    var keys: [[PersistentValue]] = []
    for number in 0..<count {
      var row = schema.fields.enumerated().map { position, field in
        if field.isOptional, (number + position) % 5 == 0 { return PersistentValue.null }
        return number < pools[position].count
          ? pools[position][number] : generator.random.pick(pools[position])
      }
      for position in schema.keyPositions where row[position].isNull { row[position] = pools[position][0] }
      // Nils do not collide: a rule that gives them all one value shall fail.
      let unique = lineage.uniqueFields.map { fields in fields.map { row[$0] } }
      let isTaken = zip(lineage.uniqueFields.indices, unique).contains { place, key in
        !key.contains(where: \.isNull)
          && keys.contains { FuzzValue.isSame($0, [.integer(Int64(place))] + key) }
      }
      if isTaken { continue }
      do {
        try row.withRow { try transaction.insert($0, in: schema) }
      } catch let error as PersistenceError where Self.rejections.contains(error.code) {
        continue
      }
      for (place, key) in unique.enumerated() { keys.append([.integer(Int64(place))] + key) }
    }
  }

  /// The keys of a model with a key of one field, from which references to it are picked.
  private mutating func keys(of model: SchemaDocument.Model) throws -> [PersistentValue] {
    if let known = keys[model.name] { return known }
    let schema = try model.declaration.schema
    let kind = schema.fields[schema.keyPositions[0]].kind
    let made = Self.edges(kind).map(FuzzValue.stored) + generator.keyPool(kind, Self.keyCount)
    keys[model.name] = made
    return made
  }

  private static let rejections: [PersistenceError.Code] = [
    .duplicateKey, .uniqueViolation, .valueTooLarge,
  ]

  /// The values that the app's test gives for a field.
  private func given(_ names: [String]) -> [PersistentValue]? { names.lazy.compactMap { values[$0] }.first }

  /// The extremes and other difficult values of a kind.
  private static func edges(_ kind: FieldKind) -> [PersistentValue] {
    switch kind {
    case .bool: Bool.samples.map { .bool($0) }
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      (kind.integerRange ?? 0...0).edges.map { .integer($0) }
    case .float: Float.samples.map { .double(Double($0)) }
    case .double: Double.samples.map { .double($0) }
    case .string: String.samples.map { .text($0) }
    case .data: [[], [0], [0, 0], [255], [255, 0], Array(0...255)].map { .bytes($0) }
    case .date: [0, 1, -978_307_200, 781_234_567].map { .date($0) }
    case .uuid: (0..<4).map { FuzzGenerator.plain(.uuid, $0 * 85) }
    case .url: ["https://example.org/%C3%A9?q=%25", "urn:x:y", "a"].map { .text($0) }
    case .decimal: (-2...2).map { .decimal(Decimal($0) / 8) }
    case .document: ["null", "[]", "{\"a\":9007199254740993}"].map { .document($0) }
    }
  }
}

extension ClosedRange<Int64> {
  fileprivate var edges: [Int64] { [lowerBound, upperBound, lowerBound + 1, upperBound - 1, 0, 1] }
}
