import Foundation
import PersistencePrimitives

/// What the store knows of a file that it wrote: the digest of its text, its size, and its modification time.
///
/// If the text differs but size and time do not, nobody edited the file: the medium damaged it.
struct Checksum: Equatable {
  let digest: String
  let size: Int
  let modified: FileTime

  init(_ text: [UInt8], _ status: FileStatus) {
    digest = Self.digest(text)
    size = status.size
    modified = status.modified
  }

  /// The SHA-256 of a text, in hexadecimal digits.
  static func digest(_ text: [UInt8]) -> String {
    SHA256.hash(data: text).hexadecimal
  }

  /// Whether a file still has the size and time that the store gave it.
  func isUntouched(_ status: FileStatus) -> Bool { size == status.size && modified == status.modified }
}

extension Checksum {
  init?(_ json: JSONValue) {
    guard case .string(let digest) = json.member("sha256"), case .number(let size) = json.member("size"),
      let size = Int(size), case .string(let time) = json.member("modified")
    else { return nil }
    let parts = time.split(separator: ".").map { Int($0) }
    guard parts.count == 2, let seconds = parts[0], let nanoseconds = parts[1],
      (0..<1_000_000_000).contains(nanoseconds)
    else { return nil }
    self.digest = digest
    self.size = size
    modified = FileTime(seconds: seconds, nanoseconds: nanoseconds)
  }

  var json: JSONValue {
    .object([
      JSONMember("modified", .string("\(modified.seconds).\(modified.nanoseconds)")),
      JSONMember("sha256", .string(digest)), JSONMember("size", .number("\(size)")),
    ])
  }
}
