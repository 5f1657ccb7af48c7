import Foundation

extension FileEvent {
  /// A log that does not have the format of the recorder.
  struct InvalidLog: Error, CustomStringConvertible { var description: String }

  /// Decodes the log of a recorder.
  ///
  /// A killed process may leave a partial last event, which is dropped.
  static func decode(_ log: Data) throws -> [FileEvent] {
    var events: [FileEvent] = []
    let bytes = [UInt8](log)
    var offset = 0
    let headerSize = 32
    while offset + headerSize <= bytes.count {
      let header = bytes[offset..<offset + headerSize]
      let (first, second) = (Int(header.word(20)), Int(header.word(24)))
      guard offset + headerSize + first + second <= bytes.count else { break }
      let start = offset + headerSize
      events += try decode(
        kind: header.word(0), file: header.word(4), number: Int(header.word(8)) | Int(header.word(12)) << 32,
        flags: header.word(16), Array(bytes[start..<start + first]),
        Array(bytes[start + first..<start + first + second]))
      offset = start + first + second
    }
    return events
  }

  private static func decode(
    kind: UInt32, file: UInt32, number: Int, flags: UInt32, _ first: [UInt8], _ second: [UInt8]
  ) throws -> [FileEvent] {
    func calls() throws -> FileFault.Calls {
      guard Int(file) < FileFault.Calls.allCases.count else {
        throw InvalidLog(description: "class \(file) of calls")
      }
      return FileFault.Calls.allCases[Int(file)]
    }
    // The numbers of `recorder_log.c`.
    switch kind {
    case 1:
      return [
        .open(
          file, first, isCreated: flags & 1 != 0, isTruncated: flags & 2 != 0, isUnnamed: flags & 4 != 0)
      ]
    case 2: return [.write(file, offset: number, bytes: first, isSynced: flags & 1 != 0)]
    case 3: return [.resize(file, size: number)]
    case 4: return [.sync(file, hasFailed: flags & 1 != 0)]
    case 5: return [.syncAll]
    case 6 where flags & 1 == 0: return [.rename(first, to: second)]
    case 6: return [.unknown("a rename that exchanges two files")]
    case 7: return [flags & 1 != 0 ? .linkOpen(file, to: second) : .link(first, to: second)]
    case 8: return [.unlink(first)]
    case 9: return [.makeFolder(first)]
    case 10: return [.makeLink(first, destination: second)]
    case 11:
      return first.split(separator: UInt8(ascii: "\n")).map { .mark(String(decoding: $0, as: UTF8.self)) }
    case 12: return [.map(file)]
    case 13: return [.fault(try calls(), number: number, code: Int32(flags))]
    case 14: return [.count(try calls(), number)]
    case 15: return [.unknown(String(decoding: first, as: UTF8.self))]
    default: throw InvalidLog(description: "event of kind \(kind)")
    }
  }
}

extension ArraySlice<UInt8> {
  /// The little-endian number at an offset from the start.
  fileprivate func word(_ offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(self[startIndex + offset + $1]) << (8 * UInt32($1)) }
  }
}
