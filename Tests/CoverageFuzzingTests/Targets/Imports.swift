import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

@testable import PersistenceTool

extension FuzzTarget {
  /// CSV files; the first byte selects the separator, and whether the import infers the schema.
  static let csv = FuzzTarget(name: "csv", seeds: Imports.delimitedSeeds) { bytes in
    guard let choice = bytes.first else { return }
    let separator = UInt8(ascii: choice & 2 == 0 ? "," : "\t")
    let source = DelimitedRecordSource(data: Data(bytes.content), file: "file", separator: separator)
    if choice & 2 == 0 { try Imports.rewrite(bytes.content) }
    try Imports.run(source, infers: choice & 1 == 0)
  }

  /// NDJSON and JSON files; the first byte selects which, and whether the import infers the schema.
  static let ndjson = FuzzTarget(name: "ndjson", seeds: Imports.jsonSeeds) { bytes in
    guard let choice = bytes.first else { return }
    let data = Data(bytes.content)
    _ = JSONLineSource.canRead(data)
    let source: any RecordSource =
      choice & 2 == 0 ? JSONLineSource(data: data) : JSONRecordSource(data: data, file: "file")
    try Imports.run(source, infers: choice & 1 == 0)
  }
}

private enum Imports {
  /// Imports a file into a context in memory.
  static func run(_ source: any RecordSource, infers: Bool) throws {
    let session = ToolSession(output: ByteOutput { _ in }, messages: ByteOutput { _ in }, engines: [])
    let plan = try refusing {
      infers
        ? try ImportPlan.inferring(
          from: source, ImportPlan.Overrides(model: "File", key: [ImportPlan.generate]), session)
        : try ImportPlan.existing(try FuzzModels.everyKind(), from: "file", ImportPlan.Overrides())
    }
    guard let plan else { return }
    let context = MemoryContext()
    var rejected = 0
    let importer = Importer(plan, from: source, batchSize: 100, session: session) { _ in rejected += 1 }
    guard try refusing({ try importer.run(into: context) }) != nil else { return }
    let report = importer.report
    try require(
      report.read == report.imported + report.rejected, "a record was neither imported nor rejected")
    try require(report.rejected == rejected, "a rejected record was not reported")
    let count = try context.count(FetchRequest(plan.schema))
    try require(count == report.imported, "an imported record is not in the store")
  }

  /// The result of a part of the tool; nil if it refuses the file with an error of the tool or of a store.
  private static func refusing<Result>(_ body: () throws -> Result) throws -> Result? {
    try accepted(ToolFailure.self) { try accepted(PersistenceError.self, body) } ?? nil
  }

  /// Reads CSV, writes its records, and reads them again; it holds one record at a time.
  static func rewrite(_ bytes: UnsafeRawBufferPointer) throws {
    var text: [UInt8] = []
    var reader = DelimitedReader(bytes)
    while let fields = try next(&reader) {
      text += DelimitedText.line(fields.map { $0.text.isEmpty && !$0.isQuoted ? nil : $0.text }).utf8
    }
    try text.withUnsafeBytes { written in
      var (reader, again) = (DelimitedReader(bytes), DelimitedReader(written))
      var isEqual = true
      while isEqual, let fields = try next(&reader) {
        isEqual =
          try next(&again)?.elementsEqual(fields) {
            $0.text == $1.text && ($0.text.isEmpty && $0.isQuoted) == ($1.text.isEmpty && $1.isQuoted)
          } ?? false
      }
      try require(isEqual && next(&again) == nil, "a record changes when it is written as CSV")
    }
  }

  /// The fields of the next record that is whole.
  private static func next(_ reader: inout DelimitedReader) throws -> [DelimitedReader.Field]? {
    while let record = try accepted(DelimitedReader.OpenQuotation.self, { try reader.next() }) ?? nil {
      if case .success(let fields) = record.fields { return fields }
    }
    return nil
  }

  @Sendable static func delimitedSeeds() throws -> [[UInt8]] {
    let schema = try FuzzModels.everyKind()
    var lines = DelimitedText.line(schema.fields.map(\.name))
    try FuzzModels.forEachRow { row in
      lines += try RecordText.delimited(row, schema.fields)
    }
    let inferred =
      "a,b,\"c \"\"d\"\"\"\r\n1,2.5,true\n,\"\",false\r\n-3,NaN,maybe\n12345678901234567890,1e5,\n"
    return [
      [1] + Array(lines.utf8), [0] + Array(inferred.utf8), [0] + Array(lines.utf8),
      [2] + Array("\u{FEFF}x\ty\n2010-07-16T00:00:00Z\t6BA7B810-9DAD-11D1-80B4-00C04FD430C8\n".utf8),
    ]
  }

  @Sendable static func jsonSeeds() throws -> [[UInt8]] {
    let schema = try FuzzModels.everyKind()
    var lines: [String] = []
    try FuzzModels.forEachRow { row in
      lines.append(try RecordText.json(row, schema.fields))
    }
    let inferred = "{\"a\":1,\"b\":[1]}\n\n{\"a\":\"2\",\"b\":{}}\nnot JSON\n{\"a\":null,\"c\":1e400}\n[1]\n"
    return [
      [1] + Array(lines.joined(separator: "\n").utf8), [0] + Array(inferred.utf8),
      [3] + Array("[\(lines.joined(separator: ","))]".utf8), [2] + Array("[{\"id\":1},{\"id\":true},2]".utf8),
    ]
  }
}
