import PersistenceDriver
import PersistenceDriverSupport
import Testing

@Suite("RowArena")
struct RowArenaTests {
  private func values(_ number: Int) -> [PersistentValue] {
    [
      .integer(Int64(number)), .text(String(repeating: "x", count: number % 50)), .null,
      .bytes(number % 7 == 0 ? [] : [UInt8(number % 256)]),
    ]
  }

  private func fill(_ arena: inout RowArena, _ numbers: Range<Int>) throws {
    let row = RowBuffer(count: 4)
    for number in numbers {
      row.set(values(number))
      row.withRow { arena.append($0, byteCount: RowArena.byteCount(of: $0)) }
    }
  }

  @Test("copies stay valid while their source changes, through many chunks and after a removal")
  func copies() throws {
    var arena = RowArena(width: 4, chunkSize: 128)
    for _ in 0..<2 {
      try fill(&arena, 0..<1_000)
      #expect(arena.count == 1_000)
      for number in 0..<1_000 {
        let found = try arena.withRow(number, width: 4) { try $0.values() }
        #expect(found == values(number))
        let isEmptyTextNil = arena[number, 1].isNull
        #expect(!isEmptyTextNil)
      }
      arena.removeAll()
      #expect(arena.count == 0)
    }
  }

  @Test("a row that is larger than a chunk gets a chunk of its own")
  func largeRow() throws {
    var arena = RowArena(width: 1, chunkSize: 16)
    let text = String(repeating: "é", count: 10_000)
    let row = RowBuffer(count: 1)
    row.set([.text(text)])
    row.withRow { arena.append($0, byteCount: RowArena.byteCount(of: $0)) }
    row.set([.text("")])
    row.withRow { arena.append($0, byteCount: 0) }
    let found = try (0..<2).map { index in try arena.withRow(index, width: 1) { try $0.value(at: 0) } }
    #expect(found == [.text(text), .text("")])
  }
}
