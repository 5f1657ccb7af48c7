import Foundation
import PersistenceDriver
import Testing

/// Rows under construction: copies, borrowed cells, reuse.
struct RowBufferTests {
  @Test("V2 copied values stay valid while the row grows")
  func growth() throws {
    let row = RowBuffer(count: 200)
    let texts = (0..<200).map { String(repeating: "\($0)é", count: $0) }
    for round in 0..<3 {
      row.reset()
      for (position, text) in texts.enumerated() { row.setText(text, at: position) }
      try row.withRow { row in
        for (position, text) in texts.enumerated() {
          let value = try row.value(at: position)
          #expect(value == .text(text), "round \(round)")
        }
      }
    }
  }

  @Test("V2 empty text and empty bytes are not nil")
  func empties() throws {
    let row = RowBuffer(count: 4)
    row.set([.text(""), .bytes([]), .document("[]"), .null])
    try row.withRow { row in
      let values = try row.values()
      #expect(values == [.text(""), .bytes([]), .document("[]"), .null])
      #expect(!row[0].isNull && !row[1].isNull && row[3].isNull)
    }
  }

  @Test("V2 a copied cell outlives its row")
  func copies() throws {
    let kept = RowBuffer(count: 1)
    do {
      let source = RowBuffer(count: 1)
      source.setText("a text of more than fifteen bytes", at: 0)
      source.withRow { kept.setCopy(of: $0[0], at: 0) }
      source.reset()
      source.setText("another text that lies in the same place", at: 0)
    }
    #expect(try kept.withRow { try $0.value(at: 0) } == .text("a text of more than fifteen bytes"))
  }

  @Test("R4 a field of another kind than the property's is an error, not a value")
  func mismatch() {
    let row = RowBuffer(count: 3)
    row.set([.text("x"), .integer(300), .integer(-1)])
    row.withRow { row in
      #expect(throws: PersistenceError.self) { _ = try Int.read(from: row, at: 0) }
      #expect(throws: PersistenceError.self) { _ = try UInt8.read(from: row, at: 1) }
      #expect(throws: PersistenceError.self) { _ = try UInt32.read(from: row, at: 2) }
      #expect((try? Int?.read(from: row, at: 1)) == 300)
    }
  }
}
