import Foundation

/// The format of a file of records.
enum ImportFormat: String, CaseIterable {
  case json, ndjson, csv, tsv
}

/// Opens files for import.
enum ImportFile {
  /// Opens a file; without a format, detects it by the extension and the first bytes.
  ///
  /// The file is mapped into memory, so its size does not matter.
  static func open(_ path: String, as format: ImportFormat?) throws -> any RecordSource {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue
    else {
      throw ToolFailure.inputOutput("the file \(path) does not exist")
    }
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    } catch {
      throw ToolFailure.inputOutput("\(path) cannot be read: \(error.localizedDescription)")
    }
    if data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) {
      throw ToolFailure.inputOutput("\(path) is UTF-16; convert it to UTF-8")
    }
    switch try format ?? detectFormat(path, data) {
    case .json: return isLines(data) ? JSONLineSource(data: data) : JSONRecordSource(data: data, file: path)
    case .ndjson: return JSONLineSource(data: data)
    case .csv: return DelimitedRecordSource(data: data, file: path, separator: UInt8(ascii: ","))
    case .tsv: return DelimitedRecordSource(data: data, file: path, separator: UInt8(ascii: "\t"))
    }
  }

  private static func detectFormat(_ path: String, _ data: Data) throws -> ImportFormat {
    switch URL(fileURLWithPath: path).pathExtension.lowercased() {
    case "json": return .json
    case "ndjson", "jsonl": return .ndjson
    case "csv": return .csv
    case "tsv": return .tsv
    default: break
    }
    if [UInt8(ascii: "["), UInt8(ascii: "{")].contains(firstByte(data)) { return .json }
    throw ToolFailure.usage("the format of \(path) is unknown; add --file-format json, ndjson, csv or tsv")
  }

  /// Whether a JSON file has one record per line, rather than an array or records over several lines.
  private static func isLines(_ data: Data) -> Bool {
    firstByte(data) != UInt8(ascii: "[") && JSONLineSource.canRead(data)
  }

  private static func firstByte(_ data: Data) -> UInt8? {
    data.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
  }
}
