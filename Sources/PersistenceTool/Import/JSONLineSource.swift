import Foundation
import PersistencePrimitives

/// The records of a file with one JSON object per line; a malformed line is rejected alone.
struct JSONLineSource: RecordSource {
  let data: Data

  /// Whether the first line that is not blank is a complete JSON value; otherwise records span several lines.
  static func canRead(_ data: Data) -> Bool {
    data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Bool in
      var lines = LineSplitter(bytes)
      while let line = lines.next() {
        guard line.bytes.allSatisfy(isBlank) else {
          return (try? JSONParser.parse(line.bytes, of: .envelope)) != nil
        }
      }
      return true
    }
  }

  func forEach(_ body: (SourceRecord) throws -> Void) throws {
    try data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
      var lines = LineSplitter(bytes)
      while let line = lines.next() {
        if line.bytes.allSatisfy(Self.isBlank) { continue }
        let fields: Result<[SourceField], RecordRejection>
        do throws(JSONSyntaxError) {
          fields = JSONRecordSource.fields(of: try JSONParser.parse(line.bytes, of: .envelope))
        } catch {
          fields = .failure(RecordRejection(reason: "column \(error.column): \(error.reason)"))
        }
        try body(SourceRecord(place: "line \(line.number)", fields: fields))
      }
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}

private struct LineSplitter {
  private var rest: UnsafeRawBufferPointer
  private var number = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? UnsafeRawBufferPointer(rebasing: bytes[3...]) : bytes
  }

  mutating func next() -> (number: Int, bytes: UnsafeRawBufferPointer)? {
    guard !rest.isEmpty else { return nil }
    number += 1
    let end = lineFeed ?? rest.count
    let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
    rest = UnsafeRawBufferPointer(rebasing: rest[min(rest.count, end + 1)...])
    return (number, line)
  }

  private var lineFeed: Int? {
    guard let base = rest.baseAddress, let found = memchr(base, 0x0A, rest.count) else { return nil }
    return UnsafeRawPointer(found) - base
  }
}
