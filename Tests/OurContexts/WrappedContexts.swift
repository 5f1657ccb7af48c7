import Logging
package import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension ContextUnderTest {
  /// Our contexts inside each shipped wrapper, which must keep the same rules.
  package static let wrapped: [ContextUnderTest] = [
    wrapping("memory", in: "LoggingContext", loggingEverything),
    wrapping("memory", in: "ReadOnlyContext", readingThroughReadOnly),
    wrapping("lmdb", in: "ReadOnlyContext", readingThroughReadOnly),
    wrapping("memory", in: "ObservedContext") { context, _ in ObservedContext(context) },
  ].compactMap(\.self)

  /// Durable contexts inside wrappers, for the checks of kills, losses of power, faults and damage.
  package static let wrappedDurable: [ContextUnderTest] = [
    wrapping("sqlite", in: "LoggingContext", loggingEverything),
    wrapping("json", in: "ObservedContext") { context, _ in ObservedContext(context) },
    wrapping("lmdb", in: "LoggingContext", loggingEverything),
    wrapping("sqlite", in: "ReadOnlyContext", readsWritable: false, readingThroughReadOnly),
  ].compactMap(\.self)

  /// A context in a wrapper; nil if the tests do not run on the context.
  private static func wrapping(
    _ name: String, in wrapper: String, readsWritable: Bool = true,
    _ wrap: @escaping @Sendable (any StorageContext, OpeningOptions) -> any StorageContext
  ) -> ContextUnderTest? {
    guard Environment.wants(name) else { return nil }
    let inner = ours.first { $0.name == name }
    let title = "\(wrapper) over \(name)"
    // The other process opens the wrapper too, so that it is what is recorded and killed.
    return ContextUnderTest(
      title, effort: Environment.isSoak ? .thorough : .quick,
      worker: .besideThisProgram("ContextWorker", arguments: [title])
    ) { path, options, monitoring in
      guard let inner else { throw PersistenceError(.missingStore, "no context is named \(name)") }
      var innerOptions = options
      if wrapper == "ReadOnlyContext", options.isReadOnly, readsWritable {
        // The store is writable, and the wrapper rejects writes. An opening may repair it.
        innerOptions.isReadOnly = false
        innerOptions.creates = false
      }
      return wrap(try inner.open(path, innerOptions, monitoring), options)
    }
  }

  /// Formats every call at trace level, and discards the text.
  @Sendable private static func loggingEverything(_ context: any StorageContext, _ options: OpeningOptions)
    -> any StorageContext
  {
    var logger = Logger(label: "wrapped") { _ in FormattingLogHandler() }
    logger.logLevel = .trace
    return LoggingContext(context, logger: logger)
  }

  @Sendable private static func readingThroughReadOnly(
    _ context: any StorageContext, _ options: OpeningOptions
  ) -> any StorageContext {
    options.isReadOnly ? ReadOnlyContext(context) : ReadThroughContext(context)
  }
}

/// A context that writes to a store and reads it through a ``ReadOnlyContext``, which covers all reads.
private final class ReadThroughContext: StorageContextWrapper {
  let wrapped: any StorageContext
  private let reader: ReadOnlyContext

  init(_ wrapped: any StorageContext) {
    self.wrapped = wrapped
    reader = ReadOnlyContext(wrapped)
  }

  var wrappedReader: any StorageReader { reader }

  func snapshot() throws -> any StorageSnapshot { try reader.snapshot() }
}

/// Formats every line, and discards it.
private struct FormattingLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { _ = "\(event.message) \(event.metadata ?? [:])" }
}
