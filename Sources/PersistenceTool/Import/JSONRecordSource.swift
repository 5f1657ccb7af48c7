import Foundation
import PersistenceDriver
import PersistencePrimitives

/// The records of a file with a JSON array, or with JSON values one after another.
struct JSONRecordSource: RecordSource {
  let data: Data
  let file: String

  func forEach(_ body: (SourceRecord) throws -> Void) throws {
    try data.withUnsafeBytes { bytes in
      var elements = JSONElements(bytes)
      while true {
        let element: JSONValue?
        do {
          element = try elements.next()
        } catch {
          throw ToolFailure.inputOutput("\(file), \(error); the rest was not read")
        }
        guard let element else { return }
        try body(SourceRecord(place: "element \(elements.count)", fields: Self.fields(of: element)))
      }
    }
  }

  static func fields(of value: JSONValue) -> Result<[SourceField], RecordRejection> {
    guard case .object(let members) = value else {
      return .failure(RecordRejection(reason: "it is \(value.kind), not an object"))
    }
    return .success(members.map { SourceField(name: $0.name, value: .json($0.value)) })
  }
}
