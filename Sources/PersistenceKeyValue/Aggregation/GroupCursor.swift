import PersistenceDriver

/// Groups and counts rows by the prefixes of a path's keys.
///
/// The keys of one group are adjacent. If the request needs only the groups, the cursor seeks past a long
/// group.
struct GroupCursor {
  /// How many entries of a group the cursor reads before it seeks past the rest.
  private static let scanLimit = 8

  private let path: AccessPath
  private let reader: any ByteReader
  private let start: Int
  private let components: Int
  /// The components of a group's key, in the order of the request.
  private let keyOrder: [Int]
  private let aggregates: [Aggregate]

  /// Prepares the cursor; nil if a key of the path was cut, so that its ranges are too wide.
  init?(
    _ request: AggregateRequest, _ binding: ModelBinding, _ plan: AccessPlan, _ components: Int,
    _ reader: any ByteReader
  ) throws {
    path = try AccessPath(plan, binding, longestKey: reader.longestKey)
    guard !path.isWidened else { return nil }
    let names = plan.components.prefix(components).map(StoredName.init)
    keyOrder = request.grouping.compactMap { names.firstIndex(of: StoredName($0)) }
    start = (path.index?.prefix ?? binding.prefix).count
    aggregates = request.aggregates
    self.components = components
    self.reader = reader
  }

  /// The groups in ascending order; nil if the values of one lie in a cut key.
  func groups() throws -> [AggregateGroup]? {
    var counts: [[PersistentValue]: Int64] = [:]
    let cursor = try reader.acquireCursor(in: path.space)
    let group = reader.workspace.acquireBuffer()
    defer {
      reader.release(cursor)
      reader.workspace.release(group)
    }
    var passed = 0
    for range in path.ranges {
      var entry = try range.lower.withUnsafeBytes { try cursor.seek($0) }
      while let first = entry, range.isBelowUpper(first.key) {
        guard let end = end(of: first.key) else { return nil }
        group.clear()
        group.append(UnsafeRawBufferPointer(rebasing: first.key[..<end]))
        let values = try KeyCodec.values(in: UnsafeRawBufferPointer(rebasing: first.key[start..<end]))
        var count: Int64 = 1
        entry = try cursor.next()
        while let other = entry, range.isBelowUpper(other.key), belongs(other.key, to: group) {
          count += 1
          passed &+= 1
          if passed & 0x1FF == 0 { try ReadInterruption.check() }
          if aggregates.isEmpty, count > Self.scanLimit {
            group.append(KeyCodec.afterAll)
            entry = try cursor.seek(group.bytes)
            break
          }
          entry = try cursor.next()
        }
        passed &+= 1
        if passed & 0x1FF == 0 { try ReadInterruption.check() }
        counts[keyOrder.map { values[$0] }, default: 0] += count
      }
    }
    return counts.sorted { RecordKey($0.key) < RecordKey($1.key) }.map { key, count in
      AggregateGroup(key: key, values: aggregates.map { _ in .integer(count) })
    }
  }

  /// The end of the group's components; nil if the key does not contain them all.
  private func end(of key: UnsafeRawBufferPointer) -> Int? {
    let isCut = path.form.isCut(key)
    let whole = isCut ? UnsafeRawBufferPointer(rebasing: key[..<path.form.runLength]) : key
    var index = start
    for _ in 0..<components where (try? KeyCodec.skip(in: whole, at: &index)) == nil { return nil }
    // An apparent end at the cut may be the first half of an escape.
    return isCut && index == whole.count ? nil : index
  }

  private func belongs(_ key: UnsafeRawBufferPointer, to group: ByteBuffer) -> Bool {
    // A text that continues with an escape is a longer one.
    ByteOrder.begins(key, with: group.bytes)
      && (key.count == group.count || key[group.count] != KeyCodec.afterAll)
  }
}
