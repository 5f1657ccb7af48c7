import PersistenceDriver

/// Scratch memory that belongs to one reader, so that reading a record allocates nothing.
package final class KeyValueWorkspace {
  @exclusivity(unchecked) private var rows: [RowBuffer] = []
  @exclusivity(unchecked) private var buffers: [ByteBuffer] = []

  /// The binding that was used last: nobody else's, so that counting its references disturbs nobody.
  @exclusivity(unchecked) var binding: ModelBinding?
  /// The version of the store that it is known to hold for.
  @exclusivity(unchecked) var bindingVersion = -1

  /// What chooses plans instead of estimates; nil where those do.
  let dice: RandomPlanChooser?

  package init(dice: RandomPlanChooser? = nil) { self.dice = dice }

  /// A row of so many fields; it is given back afterwards.
  func takeRow(_ count: Int) -> RowBuffer {
    if let last = rows.last, last.count == count {
      rows.removeLast()
      return last
    }
    guard let index = rows.firstIndex(where: { $0.count == count }) else { return RowBuffer(count: count) }
    return rows.remove(at: index)
  }

  func giveBack(_ row: RowBuffer) {
    if rows.count >= 8 { rows.removeFirst() }
    rows.append(row)
  }

  /// An empty buffer; it is given back afterwards.
  func takeBuffer() -> ByteBuffer { buffers.popLast() ?? ByteBuffer() }

  func giveBack(_ buffer: ByteBuffer) {
    buffer.clear()
    if buffers.count < 8 { buffers.append(buffer) }
  }
}
