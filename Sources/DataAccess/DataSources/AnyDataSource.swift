public import PersistenceCore
import PersistenceDriver

/// A type-erased data source that supports queries and throws only ``PersistenceError``.
public struct AnyDataSource<Object: PersistentRecord>: DataSource {
  /// The wrapped data source.
  public let base: any DataSource<Object>

  private let translate: @Sendable (any Error) -> PersistenceError

  /// Wraps a data source.
  ///
  /// - Parameter base: The data source. A `PersistenceError` passes through unchanged, a `CancellationError`
  ///   becomes ``PersistenceError/Code/cancelled``, and any other error becomes
  ///   ``PersistenceError/Code/engineFailure``.
  public init(_ base: any DataSource<Object>) {
    if let erased = base as? AnyDataSource<Object> {
      self = erased
    } else {
      self.init(base) { PersistenceError(of: $0) }
    }
  }

  /// Wraps a data source that throws errors of its own type.
  ///
  /// - Parameters:
  ///   - base: The data source.
  ///   - translate: Converts an error of the data source.
  public init(
    _ base: any DataSource<Object>, errors translate: @escaping @Sendable (any Error) -> PersistenceError
  ) {
    self.base = base
    self.translate = translate
  }

  /// Whether the wrapped data source returns objects in contract order.
  public var hasContractOrder: Bool { base.hasContractOrder }

  /// The limits of a batch that joins several writes of the wrapped data source.
  public var batchLimits: BatchLimits? { base.batchLimits }

  /// Adds an object.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    do { return try await base.insert(object) } catch { throw translate(error) }
  }

  /// Replaces the object of the same key.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    do { return try await base.update(object) } catch { throw translate(error) }
  }

  /// Replaces the object of the same key if the stored object equals the expected one.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    do { return try await base.update(object, replacing: expected) } catch { throw translate(error) }
  }

  /// Inserts an object, or replaces the one of the same key.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    do { return try await base.save(object) } catch { throw translate(error) }
  }

  /// Deletes the object of the same key.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    do { return try await base.delete(object) } catch { throw translate(error) }
  }

  /// Applies all changes of a batch or none.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    do { return try await base.apply(batch) } catch { throw translate(error) }
  }

  /// The object of a key.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    do { return try await base.find(key) } catch { throw translate(error) }
  }

  /// All objects that match a query.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    do { return try await base.execute(query) } catch { throw translate(error) }
  }

  /// The number of objects that match a query.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    do { return try await base.count(query) } catch { throw translate(error) }
  }

  /// The objects that match a query, in pages.
  public func pages(_ query: FetchOptions<Object>, size: Int) -> DataSourcePages<Object, PersistenceError> {
    func open<Base: DataSource>(_ base: Base) -> DataSourcePages<Object, PersistenceError>
    where Base.Object == Object {
      let (pages, translate) = (base.pages(query, size: size), translate)
      return DataSourcePages {
        let iterator = SequenceIterator(pages)
        return { () async throws(PersistenceError) in
          do { return try await iterator.next() } catch { throw translate(error) }
        }
      }
    }
    return open(base)
  }
}
