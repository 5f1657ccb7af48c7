import PersistenceDriver
import PersistencePlanner

/// Tells groups, and counts their rows, by the beginnings of a path's keys.
///
/// Keys of one group stand side by side. Where only the groups are wanted, a group that does not end soon is left
/// by a seek beyond it.
struct GroupCursor {
  /// How many entries of a group are passed one by one before the rest is jumped over.
  private static let patience = 8

  private let path: AccessPath
  private let reader: any ByteReader
  private let start: Int
  private let components: Int
  /// Which components make up a group's key, in the order that was asked for.
  private let places: [Int]
  private let aggregates: [Aggregate]

  /// - Returns: nil where a long key of the path had to be cut, so that its ranges hold too much.
  init?(
    _ request: AggregateRequest, _ binding: ModelBinding, _ plan: AccessPlan, _ components: Int,
    _ reader: any ByteReader
  ) throws {
    path = try AccessPath(plan, binding, longestKey: reader.longestKey)
    guard !path.isWidened else { return nil }
    let names = plan.components.prefix(components).map(StoredName.init)
    places = request.grouping.compactMap { names.firstIndex(of: StoredName($0)) }
    start = (path.index?.prefix ?? binding.prefix).count
    aggregates = request.aggregates
    self.components = components
    self.reader = reader
  }

  /// The groups in ascending order; nil where the values of one stand in a key that was cut.
  func groups() throws -> [AggregateGroup]? {
    var counts: [[PersistentValue]: Int64] = [:]
    let cursor = try reader.takeCursor(in: path.space)
    let group = reader.workspace.takeBuffer()
    defer {
      reader.giveBack(cursor)
      reader.workspace.giveBack(group)
    }
    for range in path.ranges {
      var entry = try range.lower.withUnsafeBytes { try cursor.seek($0) }
      while let first = entry, isInside(first.key, range) {
        guard let end = end(of: first.key) else { return nil }
        group.clear()
        group.append(UnsafeRawBufferPointer(rebasing: first.key[..<end]))
        let values = try KeyCodec.values(in: UnsafeRawBufferPointer(rebasing: first.key[start..<end]))
        var count: Int64 = 1
        entry = try cursor.next()
        while let other = entry, isInside(other.key, range), belongs(other.key, to: group) {
          count += 1
          if aggregates.isEmpty, count > Self.patience {
            group.append(KeyCodec.afterAll)
            entry = try cursor.seek(group.bytes)
            break
          }
          entry = try cursor.next()
        }
        counts[places.map { values[$0] }, default: 0] += count
      }
    }
    return counts.sorted { RecordKey($0.key) < RecordKey($1.key) }.map { key, count in
      AggregateGroup(key: key, values: aggregates.map { _ in .integer(count) })
    }
  }

  private func isInside(_ key: UnsafeRawBufferPointer, _ range: ByteRange) -> Bool {
    range.upper?.withUnsafeBytes { TotalOrder.compare(key, $0) < 0 } ?? true
  }

  /// Where the components of the group end; nil where they are not all in the key.
  private func end(of key: UnsafeRawBufferPointer) -> Int? {
    let isCut = path.form.isCut(key)
    let whole = isCut ? UnsafeRawBufferPointer(rebasing: key[..<path.form.runLength]) : key
    var index = start
    for _ in 0..<components where (try? KeyCodec.skip(in: whole, at: &index)) == nil { return nil }
    // What looks like an end at the cut may be the first half of an escape.
    return isCut && index == whole.count ? nil : index
  }

  private func belongs(_ key: UnsafeRawBufferPointer, to group: ByteBuffer) -> Bool {
    // What goes on with an escape is a longer text, not the same one.
    ByteOrder.begins(key, with: group.bytes)
      && (key.count == group.count || key[group.count] != KeyCodec.afterAll)
  }
}
