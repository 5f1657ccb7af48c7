import PersistenceDriver

@testable import PersistenceJSON

extension FuzzTarget {
  /// Record files of a JSON directory; the first byte selects whether the model's schema has changed.
  static let records = FuzzTarget(name: "records", seeds: JSONRecords.seeds) { bytes in
    guard let choice = bytes.first else { return }
    let layout = choice & 1 == 0 ? try JSONRecords.layout.get() : try JSONRecords.changed.get()
    let text = [UInt8](bytes.content)
    let (scanned, parsed) = (
      RowBuffer(count: layout.schema.fields.count), RowBuffer(count: layout.schema.fields.count)
    )
    let isCanonical = JSONRecords.scan(text, layout, into: scanned)
    let isRecord: Void? = try accepted(PersistenceError.self) {
      try RecordText.fill(parsed, from: text, in: layout.schema, layout.earlier)
    }
    try require(isRecord != nil || !isCanonical, "the scanner accepts text that the parser refuses")
    guard isRecord != nil else { return }
    if isCanonical {
      try require(scanned.hasSameCells(as: parsed), "the scanner reads other values than the parser")
    }
    let written = try parsed.withRow { try RecordText.text(of: $0, in: layout.schema) }
    try require(
      JSONRecords.scan(written, layout, into: scanned), "the scanner refuses text that the store writes")
    try require(scanned.hasSameCells(as: parsed), "a record changes when it is written")
  }
}

private enum JSONRecords {
  static let layout = Result { RecordLayout(try FuzzModels.everyKind()) }

  static let changed = Result { () throws -> RecordLayout in
    let schema = try FuzzModels.everyKind()
    let past = ModelPast(
      fields: [
        ModelPast.Field(name: "string", names: ["text", "string"]),
        ModelPast.Field(name: "is new", fill: .bool(true)),
        ModelPast.Field(name: "double", fill: .double(1.5)),
      ],
      forms: [
        schema.fields.map(\.name).filter { $0 != "is new" && $0 != "string" } + ["text"], ["id", "text"],
      ])
    return RecordLayout(schema, past)
  }

  static func scan(_ text: [UInt8], _ layout: RecordLayout, into row: RowBuffer) -> Bool {
    if RecordScanner.fill(row, from: text, by: layout) { return true }
    guard let earlier = layout.earlier else { return false }
    return RecordScanner.fill(row, from: text, by: layout, earlier)
  }

  @Sendable static func seeds() throws -> [[UInt8]] {
    let schema = try FuzzModels.everyKind()
    var seeds: [[UInt8]] = []
    try FuzzModels.forEachRow { row in
      let text = try RecordText.text(of: row, in: schema)
      seeds += [[0] + text, [1] + text]
    }
    seeds.append([1] + Array("{\n  \"id\": 3,\n  \"text\": \"earlier\"\n}\n".utf8))
    return seeds + [
      [0] + Array(#"{"id":"3","is new":"true","double":1e3,"date":"2010-07-16 10:00+02:00"}"#.utf8)
    ]
  }
}
