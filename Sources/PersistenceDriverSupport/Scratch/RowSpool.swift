import Foundation
import PersistenceDriver

/// Rows in an unnamed temporary file, so that copying a model of any size takes bounded memory.
///
/// A row in the file consists of its length, and of each cell's tag and bytes.
final class RowSpool {
  private static let chunk = 1 << 18

  private let width: Int
  private let file: ScratchFile
  /// The rows that are not in the file yet.
  private var pending: [UInt8] = []

  /// Creates a spool for rows with a number of fields, in the system's folder for temporary files.
  init(width: Int) throws {
    self.width = width
    file = try ScratchFile(in: FileManager.default.temporaryDirectory.path)
  }

  func add(_ row: borrowing Row) throws {
    let start = pending.count
    put(0)
    for position in 0..<width {
      let cell = row[position]
      pending.append(cell.tag.rawValue)
      if cell.isBorrowing {
        let bytes = cell.borrowedBytes
        put(UInt64(bytes.count))
        pending.append(contentsOf: bytes)
      } else {
        put(cell.rawBits)
        if cell.tag == .uuid { put(cell.rawExtra) }
      }
    }
    let count = UInt64(pending.count - start - 8)
    withUnsafeBytes(of: count) { pending.replaceSubrange(start..<start + 8, with: $0) }
    if pending.count >= Self.chunk { try flush() }
  }

  private func put(_ number: UInt64) { withUnsafeBytes(of: number) { pending.append(contentsOf: $0) } }

  private func flush() throws {
    try pending.withUnsafeBytes { try file.append($0) }
    pending.removeAll(keepingCapacity: pending.capacity <= 2 * Self.chunk)
  }

  /// Calls a closure with each row, in the order of adding.
  func forEach(_ body: (borrowing Row) throws -> Void) throws {
    try flush()
    pending = []
    let row = RowBuffer(count: width)
    var buffer: [UInt8] = []
    var (offset, position) = (0, 0)
    /// Reads until the buffer holds this many bytes from the position on.
    func fill(_ wanted: Int) throws {
      guard buffer.count - position < wanted else { return }
      buffer.removeFirst(position)
      position = 0
      let kept = buffer.count
      let more = min(max(Self.chunk, wanted - kept), file.count - offset)
      buffer.append(contentsOf: repeatElement(0, count: more))
      let found = try buffer.withUnsafeMutableBytes {
        try file.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: $0[kept...]))
      }
      guard found == more, buffer.count >= wanted else { throw Self.malformed }
      offset += found
    }
    while offset < file.count || position < buffer.count {
      try fill(8)
      let count = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: UInt64.self) }
      guard count <= UInt64(file.count) else { throw Self.malformed }
      try fill(8 + Int(count))
      try buffer.withUnsafeBytes { bytes in
        let end = position + 8 + Int(count)
        try Self.decode(UnsafeRawBufferPointer(rebasing: bytes[position + 8..<end]), into: row)
        try row.withRow(body)
      }
      position += 8 + Int(count)
    }
  }

  /// Fills a row with cells that borrow the bytes.
  private static func decode(_ bytes: UnsafeRawBufferPointer, into row: RowBuffer) throws {
    var position = 0
    func number() throws -> UInt64 {
      guard bytes.count - position >= 8 else { throw malformed }
      defer { position += 8 }
      return bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
    }
    for field in 0..<row.count {
      guard position < bytes.count, let tag = RowCell.Tag(rawValue: bytes[position]) else { throw malformed }
      position += 1
      switch tag {
      case .text, .bytes, .decimal, .document:
        guard let count = Int(exactly: try number()), count <= bytes.count - position else { throw malformed }
        // An empty text has an address too, which distinguishes it from nil.
        row.setCell(
          RowCell(tag: tag, bits: UInt64(count), pointer: bytes.baseAddress.map { $0 + position }), at: field)
        position += count
      case .uuid: row.setCell(RowCell(tag: tag, bits: try number(), extra: try number()), at: field)
      default: row.setCell(RowCell(tag: tag, bits: try number()), at: field)
      }
    }
    guard position == bytes.count else { throw malformed }
  }

  private static var malformed: PersistenceError {
    PersistenceError(.inputOutput, "the temporary file of a change of schema was changed")
  }
}
