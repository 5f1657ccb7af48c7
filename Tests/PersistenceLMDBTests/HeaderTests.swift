import Foundation
import PersistenceDriver
import Synchronization
import Testing

@testable import PersistenceLMDB

@Suite("The header of a data file")
struct HeaderTests {
  @Test(
    "C2 a file that another process writes and grows during the read is not reported as damaged"
  )
  func readBesideWriter() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    let isOver = Atomic(false)
    let failure = Mutex<String?>(nil)
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      defer { group.leave() }
      while !isOver.load(ordering: .relaxed) {
        do {
          _ = try LMDBHeader.read(scratch.data.path)
        } catch {
          return failure.withLock { $0 = "\(error)" }
        }
      }
    }
    let text = String(repeating: "x", count: 30_000)
    for number in 0..<400 { try context.save([("\(number)", text)], schema) }
    isOver.store(true, ordering: .relaxed)
    group.wait()
    try context.close()
    #expect(failure.withLock { $0 } == nil)
  }

  @Test("E5 a header with sizes beyond the limits is damaged, and does not crash")
  func beyondAnyFile() throws {
    let scratch = try Scratch()
    let context = try scratch.open()
    try context.save([("kept", "text")], try Scratch.schema())
    try context.close()
    var bytes = try Data(contentsOf: scratch.data)
    let pageSize = 1 << 16
    bytes.append(Data(count: max(0, 2 * pageSize - bytes.count)))
    // Two well-formed header pages whose page size and last page overflow together.
    func put(_ value: UInt64, _ count: Int, at place: Int) {
      for index in 0..<count {
        bytes[place + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))
      }
    }
    bytes.replaceSubrange(pageSize..<(pageSize + 152), with: bytes[0..<152])
    for meta in [16, pageSize + 16] {
      put(UInt64(pageSize), 4, at: meta + 24)
      put(1 << 47 - 1, 8, at: meta + 120)
    }
    try bytes.write(to: scratch.data)
    #expect(throws: PersistenceError.self) { try LMDBHeader.read(scratch.data.path) }
    expectError(.damaged) { _ = try scratch.open() }
  }

  @Test("E5 header pages with numbers of transactions that no store reaches are damaged, and do not crash")
  func beyondAnyTransaction() throws {
    let scratch = try Scratch()
    let context = try scratch.open()
    try context.save([("kept", "text")], try Scratch.schema())
    try context.close()
    let pageSize = try LMDBHeader.read(scratch.data.path).pageSize
    var bytes = try Data(contentsOf: scratch.data)
    let numbers: [UInt64] = [1 << 62, 1 << 63 - 2, 1 << 63]
    for even in numbers {
      // The number ends the header.
      for page in 0...1 {
        let place = page * pageSize + 16 + 128
        let number = withUnsafeBytes(of: (even + UInt64(page)).littleEndian) { Data($0) }
        bytes.replaceSubrange(place..<place + 8, with: number)
      }
      try bytes.write(to: scratch.data)
      let error = expectError(.damaged) { _ = try scratch.open() }
      #expect(error?.location?.hasSuffix("data.mdb") == true)
    }
  }
}
