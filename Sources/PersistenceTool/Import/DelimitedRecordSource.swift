import Foundation
import PersistenceDriver

/// The records of a CSV file whose first record names the fields.
struct DelimitedRecordSource: RecordSource {
  let data: Data
  let file: String
  let separator: UInt8

  func forEach(_ body: (SourceRecord) throws -> Void) throws {
    try data.withUnsafeBytes { bytes in
      var reader = DelimitedReader(bytes, separator: separator)
      guard let header = try next(&reader) else { return }
      let names = try names(header)
      while let record = try next(&reader) {
        if case .success(let fields) = record.fields,
          fields == [DelimitedReader.Field(text: "", isQuoted: false)], names.count > 1
        {
          continue  // A blank line.
        }
        try body(SourceRecord(place: "line \(record.line)", fields: Self.fields(record, names)))
      }
    }
  }

  private func next(_ reader: inout DelimitedReader) throws -> DelimitedReader.Record? {
    do {
      return try reader.next()
    } catch {
      throw ToolFailure.inputOutput(
        "\(file): the quotation mark on line \(error.line) is never closed; the rest was not read")
    }
  }

  private func names(_ header: DelimitedReader.Record) throws -> [String] {
    switch header.fields {
    case .failure(let rejection): throw ToolFailure.inputOutput("\(file), line 1: \(rejection.reason)")
    case .success(let fields):
      var seen: Set<StoredName> = []
      for field in fields where !seen.insert(StoredName(field.text)).inserted {
        throw ToolFailure.inputOutput("\(file), line 1: two fields have the name “\(field.text)”")
      }
      return fields.map(\.text)
    }
  }

  private static func fields(
    _ record: DelimitedReader.Record, _ names: [String]
  ) -> Result<[SourceField], RecordRejection> {
    record.fields.flatMap { fields in
      guard fields.count == names.count else {
        return .failure(RecordRejection(reason: "it has \(fields.count) fields, the header \(names.count)"))
      }
      return .success(
        zip(names, fields).map { name, field in
          let isNull = field.text.isEmpty && !field.isQuoted
          return SourceField(name: name, value: isNull ? .json(.null) : .cell(field.text))
        })
    }
  }
}
