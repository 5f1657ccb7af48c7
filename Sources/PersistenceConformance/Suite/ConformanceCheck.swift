import Foundation

/// One check of the contract, as a value that throws if a context breaks the contract.
///
/// ```swift
/// @Test(arguments: ConformanceCheck.all)
/// func contract(check: ConformanceCheck) async throws { try await check.run(on: myContext) }
/// ```
public struct ConformanceCheck: Sendable {
  enum Body: Sendable {
    case blocking(@Sendable (ContextUnderTest) throws -> Void)
    case asynchronous(@Sendable (ContextUnderTest) async throws -> Void)
  }

  /// The required behavior, in one sentence.
  public let title: String

  /// The rules of the contract that it checks, the most important first.
  public let rules: [ContractRule]

  /// The capabilities that it needs; a context without one of them is excused.
  public let requirements: [Requirement]

  /// Whether the check belongs to the inner loop: it starts no process, and takes a fraction of a second.
  public internal(set) var isQuick = true

  let body: Body
  private let place: (file: StaticString, line: UInt)

  /// The name of the file that declares the check, without its extension.
  package var topic: String {
    "\(place.file)".split(separator: "/").last?.split(separator: ".").first.map(String.init) ?? ""
  }

  init(
    _ title: String, _ rules: [ContractRule], needs requirements: [Requirement] = [.writable],
    file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (ContextUnderTest) throws -> Void
  ) {
    (self.title, self.rules, self.requirements, self.body) = (title, rules, requirements, .blocking(body))
    place = (file, line)
  }

  init(
    asynchronous title: String, _ rules: [ContractRule], needs requirements: [Requirement] = [.writable],
    file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (ContextUnderTest) async throws -> Void
  ) {
    (self.title, self.rules, self.requirements, self.body) = (title, rules, requirements, .asynchronous(body))
    place = (file, line)
  }

  /// The same check outside of the inner loop.
  var slow: ConformanceCheck {
    var check = self
    check.isQuick = false
    return check
  }

  /// Runs the check on new stores of a context, and removes them.
  ///
  /// Checks run on dedicated threads, a few at a time. Do not run a check that excuses the context: see
  /// ``excuse(for:)``.
  ///
  /// - Parameter context: The context.
  /// - Throws: ``ConformanceFailure`` if the context breaks the contract.
  public func run(on context: ContextUnderTest) async throws { _ = try await work(on: context) }

  /// What a check did that found nothing: how often, and how long without the wait for a thread.
  package struct Work: Sendable {
    package let counts: [String: Int]
    package let duration: Duration
  }

  /// Runs the check as ``run(on:)`` does, and returns what it did.
  package func work(on context: ContextUnderTest) async throws -> Work {
    switch body {
    case .blocking(let body): try await CheckExecutor.run { try perform(body, on: context) }
    case .asynchronous(let body): try await CheckExecutor.runLimited { try await perform(body, on: context) }
    }
  }

  /// Runs a body on the calling thread, and describes every error as a failure of this check.
  func perform(_ body: (ContextUnderTest) throws -> Void, on context: ContextUnderTest) throws -> Work {
    let start = ContinuousClock.now
    let trace = CheckTrace(file: place.file, line: place.line)
    do {
      try CheckTrace.$current.withValue(trace) { try context.withScratch { try body($0) } }
      if let error = trace.readFailure { throw error }
      return Work(counts: trace.counts, duration: ContinuousClock.now - start)
    } catch {
      throw failure(error, trace)
    }
  }

  /// Runs a suspending body, and describes every error as a failure of this check.
  func perform(
    _ body: @Sendable (ContextUnderTest) async throws -> Void, on context: ContextUnderTest
  ) async throws -> Work {
    let start = ContinuousClock.now
    let trace = CheckTrace(file: place.file, line: place.line)
    do {
      let scratch = try ScratchFolder(in: context.folder)
      defer { scratch.remove() }
      try await CheckTrace.$current.withValue(trace) { try await body(context.standing(in: scratch)) }
      if let error = trace.readFailure { throw error }
      return Work(counts: trace.counts, duration: ContinuousClock.now - start)
    } catch {
      throw failure(error, trace)
    }
  }

  /// The failure of a check that has not finished in time.
  func timeout(_ limit: Duration) -> ConformanceFailure {
    var failure = ConformanceFailure(
      title, expected: "an outcome within \(limit)", found: "none: the context may wait for ever",
      deed: "the check has not ended within \(limit)", file: place.file, line: place.line)
    failure.isTimeout = true
    return quoting(failure)
  }

  /// Names the rule and the case of an error.
  private func failure(_ error: any Error, _ trace: CheckTrace) -> any Error {
    if error is CancellationError { return error }
    var failure = quoting(error as? ConformanceFailure ?? trace.failure(error))
    if failure.subject.isEmpty { failure.subject = title }
    if let unread = trace.readFailure, failure.found != "\(unread)" {
      failure.found += "; a loop has ended early, because a page could not be read: \(unread)"
    }
    return failure
  }

  private func quoting(_ failure: ConformanceFailure) -> ConformanceFailure {
    var failure = failure
    failure.rule = rules.first.map { "\($0) \($0.title)" } ?? ""
    failure.sentence = rules.first?.sentence ?? ""
    return failure
  }

  /// Returns the declared capability that excuses a context from this check; nil if the context must pass.
  ///
  /// - Parameter context: The context.
  /// - Returns: The capability.
  /// - Throws: An error of opening a new store.
  public func excuse(for context: ContextUnderTest) throws -> Requirement? {
    let capabilities = try context.capabilities()
    if let excuse = requirements.first(where: { !$0.isMet(by: capabilities) }) { return excuse }
    // A worker that loads no library is the author's choice, which no capability of the context tells.
    guard requirements.contains(.recordedFileCalls), let worker = context.worker else { return nil }
    return FileRecorder.obstacle(of: worker) == nil ? nil : .recordedFileCalls
  }
}

extension ConformanceCheck: Identifiable, CustomStringConvertible {
  /// The rules and the title, which are unique.
  public var id: String { description }

  /// The rules and the title.
  public var description: String { rules.map(\.rawValue).joined(separator: " ") + " " + title }
}
