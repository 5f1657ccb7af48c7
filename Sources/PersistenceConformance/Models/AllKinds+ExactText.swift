import Foundation

extension AllKinds: ExactText {
  var exactText: String {
    let fields: [(String, any ExactText)] = [
      ("id", id), ("bool", bool), ("int8", int8), ("int16", int16), ("int32", int32), ("int64", int64),
      ("int", int), ("uint8", uint8), ("uint16", uint16), ("uint32", uint32), ("float", float),
      ("double", double), ("string", string), ("bytes", Data(bytes)), ("data", data), ("date", date),
      ("uuid", uuid), ("url", url), ("decimal", decimal), ("grade", grade), ("metres", metres),
      ("list", list.exactText), ("address", address), ("bool?", optional.bool), ("int8?", optional.int8),
      ("int16?", optional.int16), ("int32?", optional.int32), ("int64?", optional.int64),
      ("int?", optional.int), ("uint8?", optional.uint8), ("uint16?", optional.uint16),
      ("uint32?", optional.uint32), ("float?", optional.float), ("double?", optional.double),
      ("string?", optional.string), ("bytes?", optional.bytes.map { Data($0) }), ("data?", optional.data),
      ("date?", optional.date), ("uuid?", optional.uuid), ("url?", optional.url),
      ("decimal?", optional.decimal), ("grade?", optional.grade), ("metres?", optional.metres),
      ("list?", optional.list.map(\.exactText)), ("address?", optional.address),
    ]
    return fields.map { "\($0.0): \($0.1.exactText)" }.joined(separator: "\n")
  }
}

extension [String] { var exactText: String { "[" + map(\.exactText).joined(separator: ", ") + "]" } }

extension Address: ExactText {
  var exactText: String {
    let notes = notes.map { "\($0.key.exactText)=\($0.value.exactText)" }.sorted().joined(separator: ",")
    return "\(street.exactText) \(number) \(position.map(\.exactText)) \(notes)"
  }
}
