import PersistenceDriver

/// The models of a fetch, or what was selected of them, read a page at a time from a pinned snapshot: a lazy, Sendable collection.
///
/// It shows the store as it was at the fetch, for as long as it lives, and may be read by several threads at
/// once. A result that fits into its first page pins nothing.
///
/// Walking it costs the same for every element. `count` scans keys at most once and decodes nothing. A jump to a
/// far position may scan the keys up to it once. Slices are results too, and read no further than they reach: making
/// one, as `prefix(_:)` and `dropFirst(_:)` do, reads nothing. Copies, slices and `AnyCollection` wrappers share
/// everything.
///
/// A plain `for` cannot throw. Where reading a page fails in the middle, the program is stopped with the error's
/// message, or the context's ``Monitoring/readFailureHandler`` is called and the iteration ends; `forEach(_:)`,
/// ``withCursor(_:)`` and ``stream`` throw instead (contract R4).
public struct PersistentResults<Element: Sendable>: Sendable {
  @usableFromInline let storage: ResultStorage<Element>

  /// The positions of the result that this is a slice of, as far as it has elements there.
  @usableFromInline var window = 0..<Int.max

  init(
    _ rows: any StorageResults, request: FetchRequest, selecting selected: [Int]?, monitor: ContextMonitor,
    location: String, place: CallSite, decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws {
    storage = try ResultStorage(
      rows, request: request, selecting: selected, monitor: monitor, location: location, place: place,
      decode: decode)
  }

  init(
    reading rows: any StorageResults, request: FetchRequest, selecting selected: [Int]?,
    monitor: ContextMonitor, location: String, decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws {
    storage = try ResultStorage(
      reading: rows, request: request, selecting: selected, monitor: monitor, location: location,
      decode: decode)
  }

  /// How many models are read at a time.
  public static var pageSize: Int { ResultStorage<Element>.pageSize }
}

extension PersistentResults: Sequence {
  /// Walks the result a page at a time.
  public struct Iterator: IteratorProtocol {
    @usableFromInline let storage: ResultStorage<Element>
    @usableFromInline let walk: PageCursor<Element>

    @inlinable
    init(_ storage: ResultStorage<Element>, _ window: Range<Int>) {
      self.storage = storage
      walk = PageCursor(window)
    }

    /// The next model; nil at the end.
    @inlinable
    public mutating func next() -> Element? {
      if walk.needsPage {
        do {
          try storage.fill(walk.page)
        } catch {
          walk.end()
          storage.fail(error)
        }
      }
      return walk.take()
    }
  }

  /// Makes an iterator, which reads pages of its own.
  @inlinable
  public func makeIterator() -> Iterator { Iterator(storage, window) }
}
