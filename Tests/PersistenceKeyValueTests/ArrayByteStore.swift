import PersistenceDriver
import PersistenceKeyValue

/// An ordered byte store in sorted arrays, with an arbitrary limit on the key length.
///
/// It implements the protocols that LMDB implements. Borrowed bytes stay valid until the store is released.
final class ArrayByteStore: ByteWriter, ByteSource, @unchecked Sendable {  // each test uses one thread
  struct Node {
    let key: UnsafeRawBufferPointer
    var value: UnsafeMutableRawBufferPointer
  }

  let longestKey: Int
  /// Every write is visible immediately and creates a version.
  private(set) var version = 0
  let workspace = KeyValueWorkspace()
  var copiesRows = false
  let keepsEntries = true
  /// The number of cursor moves.
  fileprivate(set) var steps = 0
  private var spaces: [[Node]] = [[], [], []]
  private var memory: [UnsafeMutableRawBufferPointer] = []

  init(longestKey: Int) { self.longestKey = longestKey }

  deinit { for block in memory { block.deallocate() } }

  func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result { try body(self) }

  func nodes(_ space: KeySpace) -> [Node] { spaces[space.rawValue] }

  /// The index of the first key that is not less.
  fileprivate func index(of key: UnsafeRawBufferPointer, in space: KeySpace) -> Int {
    let nodes = spaces[space.rawValue]
    var (low, high) = (0, nodes.count)
    while low < high {
      let middle = (low + high) / 2
      if TotalOrder.compare(nodes[middle].key, key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, count), alignment: 1)
    memory.append(block)
    return UnsafeMutableRawBufferPointer(rebasing: block[..<count])
  }

  private func holds(_ key: UnsafeRawBufferPointer, at index: Int, in space: KeySpace) -> Bool {
    index < spaces[space.rawValue].count && spaces[space.rawValue][index].key.elementsEqual(key)
  }

  func value(of key: UnsafeRawBufferPointer, in space: KeySpace) throws -> UnsafeRawBufferPointer? {
    let index = index(of: key, in: space)
    return holds(key, at: index, in: space)
      ? UnsafeRawBufferPointer(spaces[space.rawValue][index].value) : nil
  }

  func acquireCursor(in space: KeySpace) throws -> any ByteCursor { ArrayCursor(self, space) }

  func release(_ cursor: any ByteCursor) {}

  func reserve(_ key: UnsafeRawBufferPointer, count: Int, in space: KeySpace, isReplacing: Bool) throws
    -> UnsafeMutableRawBufferPointer?
  {
    guard key.count <= longestKey, !key.isEmpty else {
      throw PersistenceError(.valueTooLarge, "a key of \(key.count) bytes reached the store")
    }
    version += 1
    let index = index(of: key, in: space)
    let value = allocate(count)
    if holds(key, at: index, in: space) {
      guard isReplacing else { return nil }
      spaces[space.rawValue][index].value = value
    } else {
      let copy = allocate(key.count)
      copy.copyMemory(from: key)
      spaces[space.rawValue].insert(Node(key: UnsafeRawBufferPointer(copy), value: value), at: index)
    }
    return value
  }

  func remove(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws -> Bool {
    let index = index(of: key, in: space)
    guard holds(key, at: index, in: space) else { return false }
    version += 1
    spaces[space.rawValue].remove(at: index)
    return true
  }

  func removeAll(beginningWith prefix: UnsafeRawBufferPointer, in space: KeySpace) throws {
    spaces[space.rawValue].removeAll { $0.key.starts(with: prefix) }
  }

  func nested(_ body: () throws -> Void) throws {
    let before = spaces
    do {
      try body()
    } catch {
      spaces = before
      throw error
    }
  }
}

private final class ArrayCursor: ByteCursor {
  private let store: ArrayByteStore
  private let space: KeySpace
  private var place = -1

  init(_ store: ArrayByteStore, _ space: KeySpace) {
    self.store = store
    self.space = space
  }

  private func entry(at index: Int) -> OrderedEntry? {
    let nodes = store.nodes(space)
    store.steps += 1
    place = max(-1, min(index, nodes.count))
    guard nodes.indices.contains(index) else { return nil }
    return OrderedEntry(key: nodes[index].key, value: UnsafeRawBufferPointer(nodes[index].value))
  }

  func seek(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry? {
    entry(at: store.index(of: key, in: space))
  }

  func find(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry? {
    let found = try seek(key)
    return found.map { $0.key.elementsEqual(key) } == true ? found : nil
  }

  func last() throws -> OrderedEntry? { entry(at: store.nodes(space).count - 1) }
  func next() throws -> OrderedEntry? { entry(at: place + 1) }
  func previous() throws -> OrderedEntry? { entry(at: place - 1) }
}
