import Foundation
import PersistenceDriver
package import PersistenceDriverSupport
import PersistencePrimitives

/// The declarations of an app and of its releases, as files in version control.
///
/// `Schemas/current.json` contains what the code declares, and `Schemas/released/1.4.0.json` what the release 1.4.0
/// declared. A test checks that the code opens the stores of each release:
///
/// ```swift
/// @Test func schemas() throws {
///   try SchemaHistory(of: Shop.self, in: "Schemas").check()
/// }
/// ```
///
/// With `PERSISTENCE_SCHEMAS=record` in the environment, the check writes `current.json` instead of comparing it. Commit
/// the file with the change of the code. The files contain no version numbers, so recording anew settles a merge.
public struct SchemaHistory {
  private let schema: any StoreSchema.Type
  private let folder: URL
  let isRecording: Bool

  /// Creates a history.
  ///
  /// - Parameters:
  ///   - schema: The models, and the rules of their evolution.
  ///   - folder: The folder of the files, relative to the package: the nearest folder above `file` with a
  ///     `Package.swift`, or the working directory if there is none.
  ///   - file: The calling file.
  public init(of schema: any StoreSchema.Type, in folder: String, file: String = #filePath) {
    self.init(
      of: schema, in: folder, file: file,
      isRecording: ProcessInfo.processInfo.environment["PERSISTENCE_SCHEMAS"] == "record")
  }

  init(of schema: any StoreSchema.Type, in folder: String, file: String = #filePath, isRecording: Bool) {
    self.schema = schema
    self.isRecording = isRecording
    self.folder =
      folder.hasPrefix("/")
      ? URL(fileURLWithPath: folder, isDirectory: true)
      : Self.package(of: file).appendingPathComponent(folder, isDirectory: true)
  }

  private static func package(of file: String) -> URL {
    var folder = URL(fileURLWithPath: file)
    while folder.pathComponents.count > 1 {
      folder.deleteLastPathComponent()
      let manifest = folder.appendingPathComponent("Package.swift").path
      if FileManager.default.fileExists(atPath: manifest) { return folder }
    }
    return URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
  }

  /// Checks that `current.json` is the code, and that the code opens the stores of each release.
  ///
  /// The code must also say what happened to each field, model and index of a release, and keep each fill. The check
  /// opens stores in memory, without records; a rule's closure runs only if it is a step.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` and a message that lists all
  ///   findings, each with what to do; ``PersistenceError/Code/invalidSchema`` if a declaration, a rule or a file is
  ///   invalid; and any error of reading or writing the files.
  public func check() throws {
    let document = try document()
    var findings = ReleaseFindings()
    if isRecording {
      try write(document, to: current)
    } else {
      try compare(document, &findings)
    }
    try findings.check(schema, document, try releases())
    try findings.requireNone()
  }

  /// Writes `current.json`, and the file of a release.
  ///
  /// - Parameter release: The version, such as `1.4.0`; nil writes only `current.json`.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` if the code does not open the
  ///   stores of an earlier release, or the release is recorded with other declarations; nothing is written then.
  public func record(as release: String?) throws {
    let document = try document()
    if let release {
      guard !release.isEmpty, !release.hasPrefix("."), !release.contains("/") else {
        throw PersistenceError.invalidRequest("“\(release)” is not a version; use one such as 1.4.0")
      }
      var findings = ReleaseFindings()
      let releases = try releases()
      if let recorded = releases.first(where: { $0.version == release }), recorded.document != document {
        findings.add(
          "\(release) is recorded with other declarations; a release never changes; choose the next version")
      }
      try findings.check(schema, document, releases)
      try findings.requireNone()
      try write(document, to: released.appendingPathComponent("\(release).json"))
    }
    try write(document, to: current)
  }

  // MARK: - Files

  private var current: URL { folder.appendingPathComponent("current.json") }
  private var released: URL { folder.appendingPathComponent("released", isDirectory: true) }

  /// What the code declares.
  package func document() throws -> SchemaDocument {
    // The context is only needed to open a store.
    let code = try StoreEvolution(MemoryContext(), schema)
    return try SchemaDocument(
      code.declarations,
      removedModels: code.removedModels.map { .init(name: $0.name, formerNames: $0.formerNames) })
  }

  /// The releases, sorted by version.
  package func releases() throws -> [(version: String, document: SchemaDocument)] {
    guard FileManager.default.fileExists(atPath: released.path) else { return [] }
    let names = try FileManager.default.contentsOfDirectory(atPath: released.path).filter {
      $0.hasSuffix(".json")
    }
    let versions = names.map { String($0.dropLast(".json".count)) }
    return try versions.sorted { $0.compare($1, options: .numeric) == .orderedAscending }.map { version in
      (version, try SchemaDocument(contentsOf: released.appendingPathComponent("\(version).json").path))
    }
  }

  private func compare(_ document: SchemaDocument, _ findings: inout ReleaseFindings) throws {
    let record = "run the test with PERSISTENCE_SCHEMAS=record, and commit the file"
    guard FileManager.default.fileExists(atPath: current.path) else {
      return findings.add("\(current.path) does not exist; \(record)")
    }
    let recorded = try SchemaDocument(contentsOf: current.path)
    guard recorded != document else { return }
    for field in document.fills
    where recorded.fills.contains(where: { $0.name == field.name && $0.fill != field.fill }) {
      findings.add(
        "\(field.name): the fill is \(field.fill), and current.json has another; a fill must have the same value at each "
          + "run; use a constant")
    }
    let differences = document.differences(from: recorded, includesWords: true).map {
      "\($0.sign.rawValue) \($0.text)"
    }
    let list = differences.isEmpty ? "the order of fields" : differences.joined(separator: "; ")
    findings.add("current.json is not what the code declares (\(list)); \(record)")
  }

  private func write(_ document: SchemaDocument, to file: URL) throws {
    do {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      let text = try document.text
      // An unchanged file keeps its date.
      if FileManager.default.contents(atPath: file.path) == Data(text.utf8) { return }
      try Data(text.utf8).write(to: file, options: .atomic)
    } catch {
      throw PersistenceError(.inputOutput, "\(file.path) could not be written: \(error)")
    }
  }
}

extension SchemaDocument {
  fileprivate var fills: [(name: String, fill: PersistentValue)] {
    models.flatMap { model in
      model.fields.compactMap { field in field.fill.map { ("\(model.name).\(field.schema.name)", $0) } }
    }
  }
}
