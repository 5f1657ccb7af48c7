import PersistenceDriver
import PersistenceDriverSupport

@testable import PersistenceKeyValue

extension FuzzTarget {
  /// Packed rows of a model's newest and earlier revisions.
  ///
  /// The first byte selects the declared order of the fields, and a revision whose header and checksums the row gets:
  /// otherwise nearly every input would stop at its checksum.
  static let rows = FuzzTarget(name: "rows", seeds: PackedRows.seeds) { bytes in
    guard let choice = bytes.first else { return }
    let forms = try PackedRows.forms.get()
    var row = [UInt8](bytes.content)
    let revision = Int(choice & 3)
    if revision < forms.revisions.count { PackedRows.seal(&row, as: forms.revisions[revision]) }
    let form = choice & 4 == 0 ? forms.declared : forms.permuted
    try row.withUnsafeBytes { try PackedRows.read($0, form) }
  }
}

private enum PackedRows {
  /// A layout and a condition on its rows.
  struct Form: Sendable {
    let layout: RowLayout
    let condition: PackedCondition
    let compiled: CompiledPredicate

    init(_ layout: RowLayout) throws {
      let node = PredicateNode.any([
        .all([
          .comparison(field: "int64", .greater, .integer(5)), .comparison(field: "double", .less, .double(1)),
        ]),
        .not(.comparison(field: "date", .lessOrEqual, .date(0))),
        .not(.comparison(field: "uint8", .greater, .integer(3))),
      ])
      self.layout = layout
      compiled = try CompiledPredicate(node, in: layout.schema)
      guard let condition = PackedCondition(compiled.program, in: layout) else {
        throw FuzzFailure(description: "the condition cannot be evaluated on packed rows")
      }
      self.condition = condition
    }
  }

  struct Forms: Sendable {
    let declared: Form
    let permuted: Form
    /// The layouts of rows of each revision, the newest first.
    let revisions: [RowLayout]
  }

  static let forms = Result { () throws -> Forms in
    let schema = try FuzzModels.everyKind()
    let kinds: [[FieldKind]] = [[.int64, .string, .bool, .double], [.int64, .uuid, .data, .date, .decimal]]
    let earlier = kinds.map { kinds in
      RowRevision(
        fields: kinds.map { RowRevision.Field(kind: $0, isOptional: $0 != .int64) },
        sources: schema.fields.map { field in
          if let origin = kinds.firstIndex(of: field.kind) {
            return .field(origin, replacingNil: field.kind == .bool ? .bool(true) : nil)
          }
          return .fill(field.name == "int32" ? .integer(7) : field.isOptional ? .null : .bool(false))
        })
    }
    var model = StoredModel(number: 1, schema: schema)
    model.evolution = ModelEvolution(
      revision: 3, earlier: earlier, indexNumbers: Array(schema.indexes.indices), recordsNumber: nil)
    let permuted = try ModelSchema(
      name: schema.name, fields: schema.fields.reversed(), key: schema.key, indexes: schema.indexes)
    let none = [Int?](repeating: nil, count: schema.fields.count)
    return Forms(
      declared: try Form(RowLayout(of: model, declared: schema)),
      permuted: try Form(RowLayout(of: model, declared: permuted)),
      revisions: [RowLayout(of: model, declared: schema)]
        + earlier.enumerated().map { number, revision in
          RowLayout(revision.fields, at: none, schema, revision: UInt16(1 + number))
        })
  }

  static func seal(_ row: inout [UInt8], as layout: RowLayout) {
    guard row.count >= layout.fixedLength else { return }
    row.withUnsafeMutableBytes { row in
      row.storeBytes(of: layout.head.littleEndian, as: UInt32.self)
      layout.seal(row)
    }
  }

  static func read(_ row: UnsafeRawBufferPointer, _ form: Form) throws {
    let layout = form.layout
    let whole = RowBuffer(count: layout.count)
    let isWhole = try accepted(PersistenceError.self) { try layout.fill(whole, from: row) } != nil
    if let packed = layout.record(in: row) {
      try require(isWhole, "a row that cannot be decoded can be read in place")
      let inPlace = RowBuffer(count: layout.count)
      let fields = Row(packed: packed, count: layout.count)
      for position in 0..<layout.count { inPlace.setCell(fields[position], at: position) }
      try require(
        inPlace.hasSameCells(as: whole), "the fields that are read in place differ from those of the row")
    }
    let part = RowBuffer(count: layout.count)
    for position in 0..<layout.count {
      let isRead =
        try accepted(PersistenceError.self) { try layout.fill(part, from: row, only: [position]) } != nil
      guard isWhole else { continue }
      try require(isRead, "field \(position) of a row that can be read cannot be read alone")
    }
    let decision = form.condition.decide(row)
    guard isWhole else { return }
    try require(part.hasSameCells(as: whole), "the fields that are read alone differ from those of the row")
    _ = try accepted(PersistenceError.self) { try whole.withRow { try $0.values() } }
    let matches = try whole.withRow { try form.compiled.matches($0) }
    if row.loadUnaligned(as: UInt32.self).littleEndian == layout.head {
      try require(decision == (matches ? .matches : .fails), "a packed condition differs from the evaluator")
    }
    let packed = try pack(whole, layout)
    let again = RowBuffer(count: layout.count)
    try packed.withUnsafeBytes { try layout.fill(again, from: $0) }
    try packed.withUnsafeBytes { _ in
      try require(again.hasSameCells(as: whole), "a row changes when it is packed again")
    }
  }

  static func pack(_ row: RowBuffer, _ layout: RowLayout) throws -> [UInt8] {
    try row.withRow { row in
      var bytes = [UInt8](repeating: 0xAA, count: try layout.packedLength(of: row))
      bytes.withUnsafeMutableBytes { layout.pack(row, into: $0) }
      return bytes
    }
  }

  @Sendable static func seeds() throws -> [[UInt8]] {
    let forms = try forms.get()
    let row = RowBuffer(count: forms.declared.layout.count)
    var seeds: [[UInt8]] = try FuzzModels.records.flatMap { record in
      row.set(record)
      let packed = try pack(row, forms.declared.layout)
      return [[3] + packed, [0] + packed, [4] + packed]
    }
    for (number, layout) in forms.revisions.enumerated().dropFirst() {
      seeds.append([UInt8(number)] + [UInt8](repeating: 0, count: layout.fixedLength))
      seeds.append([UInt8(4 + number)] + [UInt8](repeating: 1, count: layout.fixedLength + 9))
    }
    return seeds
  }
}
