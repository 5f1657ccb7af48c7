import PersistenceDriver

/// The comparison of one model that exists in both stores.
struct ModelComparison {
  let leftSchema: ModelSchema
  let leftReader: any StorageReader
  let rightSchema: ModelSchema
  let rightReader: any StorageReader
  let differenceLimit: Int

  /// Whether both primary keys have the same fields of the same kinds, so that both sides have the same order.
  private var hasOneKey: Bool {
    leftSchema.key.map(StoredName.init) == rightSchema.key.map(StoredName.init)
      && leftSchema.keyPositions.map { leftSchema.fields[$0].kind }
        == rightSchema.keyPositions.map { rightSchema.fields[$0].kind }
  }

  func run(_ progress: (StoreProgress) throws -> Void) throws -> ComparisonReport.Model {
    var model = ComparisonReport.Model(name: leftSchema.name, presence: .both)
    model.schemaDifferences = leftSchema.differences(from: rightSchema).map(Self.comparisonText)
    model.isComparedByKey = hasOneKey
    model.hasAllFields = leftSchema.fields.allSatisfy { rightSchema.field(named: $0.name) == $0 }
    if hasOneKey {
      try compareByKey(&model, progress)
    } else {
      model.left = try ModelContent.read(leftSchema, from: leftReader, phase: .comparing, progress).side
      model.right = try ModelContent.read(rightSchema, from: rightReader, phase: .comparing, progress).side
    }
    return model
  }

  /// Rewrites a line of ``ModelSchema/differences(from:)`` for a comparison of two stores.
  private static func comparisonText(_ line: String) -> String {
    line.replacing("not in the store", with: "not in the right store")
      .replacing("in the store, not declared", with: "in the right store only")
      .replacing("declared as", with: "left").replacing("stored as", with: "right")
      .replacing("declared, ", with: "in the left store, ")
      .replacing("not declared", with: "not in the left store")
  }

  private func compareByKey(
    _ model: inout ComparisonReport.Model, _ progress: (StoreProgress) throws -> Void
  ) throws {
    let leftNames = Set(leftSchema.fields.map { StoredName($0.name) })
    let rightNames = Set(rightSchema.fields.map { StoredName($0.name) })
    let shared = leftNames == rightNames ? nil : leftNames.intersection(rightNames)
    var left = try RecordStream(leftSchema, in: leftReader, shared: shared)
    var right = try RecordStream(rightSchema, in: rightReader, shared: shared)
    let total = try leftReader.count(try FetchRequest(leftSchema))
    var reported = 0
    while true {
      let (first, second) = (try left.current(), try right.current())
      switch (first, second) {
      case (nil, nil):
        (model.left, model.right) = (left.content.side, right.content.side)
        try progress(StoreProgress(phase: .comparing, model: leftSchema.name, done: total, total: total))
        return
      case (let first?, let second?):
        let order = RecordKey.compare(first.key, second.key)
        if order <= 0 { left.advance() }
        if order >= 0 { right.advance() }
        if order == 0, first.shared == second.shared {
          model.unchanged += 1
        } else if order == 0 {
          try note(.changed, first.key, in: &model)
        } else {
          try note(order < 0 ? .onlyLeft : .onlyRight, order < 0 ? first.key : second.key, in: &model)
        }
      case (let first?, nil):
        left.advance()
        try note(.onlyLeft, first.key, in: &model)
      case (nil, let second?):
        right.advance()
        try note(.onlyRight, second.key, in: &model)
      }
      if left.content.count != reported {
        reported = left.content.count
        try progress(
          StoreProgress(phase: .comparing, model: leftSchema.name, done: reported, total: total))
      }
    }
  }

  private func note(
    _ kind: RecordDifference.Kind, _ key: RecordKey, in model: inout ComparisonReport.Model
  ) throws {
    switch kind {
    case .onlyLeft: model.onlyLeft += 1
    case .onlyRight: model.onlyRight += 1
    case .changed: model.changed += 1
    }
    guard model.differences.count < differenceLimit else { return }
    let fields = kind == .changed ? try changedFields(key) : []
    model.differences.append(RecordDifference(kind: kind, key: key, fields: fields))
  }

  private func changedFields(_ key: RecordKey) throws -> [RecordDifference.Field] {
    var fields: [RecordDifference.Field] = []
    _ = try leftReader.find(key, in: leftSchema) { row in
      fields = try RecordDifference.fields(row, leftSchema, key, in: rightReader, rightSchema)
    }
    return fields
  }
}
