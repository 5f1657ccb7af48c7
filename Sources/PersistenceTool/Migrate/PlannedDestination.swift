import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceMigration

/// The destination of a plan: the existing store, opened for reading, or else a temporary store of the same engine, so
/// that planning creates nothing at the destination.
struct PlannedDestination {
  let stores: ToolStores

  struct Opened {
    let context: any StorageContext
    let scratch: ScratchStores?
    let url: StoreURL
  }

  /// Opens the destination for a closure.
  func with<Result>(_ url: String, _ body: (Opened) throws -> Result) throws -> Result {
    let location = try stores.check(url)
    let scratch = try ScratchStores(location, stores)
    defer { scratch?.remove() }
    let exists = stores.hasFiles(location) && FileManager.default.fileExists(atPath: location.path)
    if exists || scratch == nil {
      // The engine reports a missing server store, and creates one in memory.
      let context =
        try exists || location.scheme != StorageEngine.memory.scheme
        ? stores.openForReading(url, allowsIncomplete: true) : stores.openForWriting(url)
      return try stores.with(PlannedContext.asWritable(context)) {
        try body(Opened(context: $0, scratch: scratch, url: location))
      }
    }
    let context = try scratch.map { try $0.open() } ?? stores.openForReading(url, allowsIncomplete: true)
    return try stores.with(context) { try body(Opened(context: $0, scratch: scratch, url: location)) }
  }
}

/// A store opened for reading that reports its capabilities as if opened for writing.
private final class PlannedContext: StorageContextWrapper {
  let wrapped: any StorageContext

  static func asWritable(_ context: any StorageContext) -> any StorageContext {
    context.capabilities.isReadOnly ? PlannedContext(context) : context
  }

  private init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  var capabilities: Capabilities {
    var capabilities = wrapped.capabilities
    capabilities.isReadOnly = false
    return capabilities
  }
}

/// Temporary stores of an engine.
struct ScratchStores {
  private let folder: URL
  private let url: StoreURL
  private let stores: ToolStores

  /// Creates a folder; nil if the engine's stores have no files.
  init?(_ url: StoreURL, _ stores: ToolStores) throws {
    guard stores.hasFiles(url) else { return nil }
    self.url = url
    self.stores = stores
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "persistence-plan-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Opens a new store with the URL's options.
  func open(_ name: String = "destination") throws -> any StorageContext {
    try stores.openForWriting(url.text(at: path(name), without: ["create", "readonly"]))
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}

extension StoreURL {
  static func escaped(_ text: String) -> String {
    // ASCII only; other characters are escaped byte by byte.
    var allowed = CharacterSet(charactersIn: "-_.~/")
    allowed.insert(charactersIn: "a"..."z")
    allowed.insert(charactersIn: "A"..."Z")
    allowed.insert(charactersIn: "0"..."9")
    return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
  }

  /// The URL of a store at another path, without some of the options.
  func text(at path: String, without names: Set<String> = []) -> String {
    let query = options.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
      .map { "\(Self.escaped($0.key))=\(Self.escaped($0.value))" }.joined(separator: "&")
    return "\(scheme):\(Self.escaped(path))\(query.isEmpty ? "" : "?" + query)"
  }
}

extension PlannedDestination.Opened {
  /// The size of the sample per model.
  private static let sampleRecords = 10_000
  private static let sampleBytes = 8 << 20
  /// The allowance for trees that grow faster than the sample predicts.
  private static let slack = 1.5

  /// Estimates space and time: copies the first records of each model into a temporary store of the destination's engine.
  func estimate(_ plan: inout MigrationPlan, of source: any StorageContext, options: MigrationOptions) throws
  {
    plan.estimate.free = scratch == nil ? nil : FreeSpace.bytes(at: url.path)
    guard let scratch else { return }
    let reading = (plan.estimate.seconds ?? 0) / 3
    let sample = try Sample(plan, source, options, records: Self.sampleRecords, bytes: Self.sampleBytes)
    guard sample.records > 0 else {
      (plan.estimate.bytes, plan.estimate.seconds) = (0, reading)
      plan.estimate.basis = "the source holds no records"
      return
    }
    let empty = try Self.filled(scratch, "empty", from: sample.store, isEmpty: true)
    let full = try Self.filled(scratch, "sample", from: sample.store, isEmpty: false)
    let ratio = Double(plan.records) / Double(sample.records)
    let byteRatio = Double(plan.bytes) / Double(max(1, sample.bytes))
    // Larger trees fill their pages less, and the sample reuses fewer freed pages.
    let slack = ratio > 1 ? Self.slack : 1
    plan.estimate.bytes =
      empty.bytes + Int(Double(max(0, full.bytes - empty.bytes)) * max(ratio, byteRatio) * slack)
    let checking = options.verification == .none || options.verification == .count ? 0 : reading
    plan.estimate.seconds = reading + max(0, full.seconds - empty.seconds) * ratio + checking
    plan.estimate.basis =
      "a sample of \(sample.records) of \(plan.records) records, copied into a temporary store, took "
      + "\(StoreSize.text(full.bytes)) and \(ProgressDisplay.duration(full.seconds))"
  }

  private static func filled(
    _ scratch: ScratchStores, _ name: String, from sample: MemoryContext, isEmpty: Bool
  ) throws -> (bytes: Int, seconds: Double) {
    let store = try scratch.open(name)
    let started = ContinuousClock.now
    if isEmpty {
      try store.transaction { transaction in
        for schema in try sample.catalog() { try transaction.define(schema) }
      }
    } else {
      _ = try Migration(from: sample, to: store, options: MigrationOptions(verification: .none)).run()
    }
    let seconds = (ContinuousClock.now - started).timeInterval
    try store.close()
    return (StoreSize.bytes(atPath: scratch.path(name)) ?? 0, seconds)
  }
}

/// The first mapped records of each model.
private struct Sample {
  let store = MemoryContext()
  private(set) var records = 0
  private(set) var bytes = 0

  init(
    _ plan: MigrationPlan, _ source: any StorageContext, _ options: MigrationOptions, records limit: Int,
    bytes byteLimit: Int
  ) throws {
    let snapshot = try source.snapshot().hidingRemovedFields()
    let chosen = Set(plan.models.map { StoredName($0.name) })
    for schema in try snapshot.catalog() where chosen.contains(StoredName(schema.name)) {
      var mapper = try RecordMapper(options.mapping, schema, allowsLoss: true)
      let target = RowBuffer(count: mapper.destination.fields.count)
      let results = try snapshot.fetch(try FetchRequest(schema, limit: limit))
      var (count, size) = (0, 0)
      try store.transaction { transaction in
        try transaction.define(mapper.destination)
        while count < limit, size < byteLimit {
          // One at a time, to skip a record that cannot be read or converted.
          do {
            let read = try results.read(from: count, limit: 1) { row in
              try mapper.map(row, into: target)
              try target.withRow { try transaction.insert($0, in: mapper.destination) }
              size += row.approximateSize
              records += 1
            }
            if read == 0 { break }
          } catch let error as PersistenceError where !Self.stops.contains(error.code) {}
          count += 1
        }
      }
      bytes += size
    }
  }

  private static let stops: [PersistenceError.Code] = [.inputOutput, .closed, .storeFull, .accessDenied]
}
