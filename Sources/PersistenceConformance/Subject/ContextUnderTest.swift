public import Foundation
public import PersistenceCore

/// A context that the suite is run against: a name, and how a store of it is opened.
///
/// The suite names places in folders of its own; the same place opened twice is the same store, unless the
/// context declares that it is not durable. Nothing else tells contexts apart: where a rule does not hold
/// everywhere, the store's own `Capabilities` say so.
///
/// ```swift
/// let mine = ContextUnderTest("mine") { path, options, monitoring in
///   try MyContext(path: path, isReadOnly: options.isReadOnly, monitoring: monitoring)
/// }
/// ```
public struct ContextUnderTest: Sendable {
  /// How a store is opened: its path, which is free for the context to make a file or a folder at; how; and where
  /// the context reports.
  public typealias Opening =
    @Sendable (_ path: String, _ options: OpeningOptions, _ monitoring: Monitoring) throws
    -> any StorageContext

  /// The name, for reports.
  public let name: String

  /// How much work checks of chance do.
  public var effort: Effort

  /// The seed of checks of chance; nil for each check's own, so that runs are alike.
  public var seed: UInt64?

  /// The program that opens stores as a second process; needed where the context declares `isDurable`
  /// or `isMultiProcess`, and for files that are damaged or may not be read (`hasFiles`).
  public var worker: WorkerProgram?

  /// The folder in which folders for stores are made; nil for the system's temporary one.
  public var folder: URL?

  private let opening: Opening
  private(set) var scratch: ScratchFolder?

  /// Describes a context.
  ///
  /// - Parameters:
  ///   - name: The name, for reports.
  ///   - effort: How much work checks of chance do.
  ///   - worker: The program that opens stores as a second process.
  ///   - opening: Opens the store at a path.
  public init(
    _ name: String, effort: Effort = .quick, worker: WorkerProgram? = nil, opening: @escaping Opening
  ) {
    self.name = name
    self.effort = effort
    self.worker = worker
    self.opening = opening
  }

  /// Opens the store at a path.
  package func open(_ path: String, _ options: OpeningOptions, _ monitoring: Monitoring) throws
    -> any StorageContext
  {
    try opening(path, options, monitoring)
  }

  /// Makes the name of a store that does not exist yet, in a folder of its own.
  package func makeStore(on medium: ScratchFolder.Medium = .fast) throws -> StoreUnderTest {
    StoreUnderTest(self, folder: try requireScratch().make(name, on: medium))
  }

  /// The folder of the check that is under way.
  func requireScratch() throws -> ScratchFolder { try scratch ?? ScratchFolder(in: folder) }

  /// What a fresh store of this context says that it can do.
  package func capabilities() throws -> Capabilities {
    try withScratch { context in
      let context = try context.makeStore().open().storage
      defer { try? context.close() }
      return context.capabilities
    }
  }

  /// Gives the context a folder for its stores, which is removed afterwards.
  package func withScratch<Result>(_ body: (ContextUnderTest) throws -> Result) throws -> Result {
    let scratch = try ScratchFolder(in: folder)
    defer { scratch.remove() }
    return try body(standing(in: scratch))
  }

  func standing(in scratch: ScratchFolder) -> ContextUnderTest {
    var copy = self
    copy.scratch = scratch
    return copy
  }
}

extension ContextUnderTest: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}
