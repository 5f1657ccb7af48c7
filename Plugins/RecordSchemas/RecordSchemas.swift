import Foundation
import PackagePlugin

/// `swift package record-schemas VERSION [--schemas FOLDER]`: keeps `Schemas/current.json` as
/// `Schemas/released/VERSION.json`, so that tests check later code against the release.
///
/// A test writes `current.json` from the code (`PERSISTENCE_SCHEMAS=record swift test`), because only the code knows its
/// declarations. A recorded release never changes.
@main
struct RecordSchemas: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    var extractor = ArgumentExtractor(arguments)
    let folder = extractor.extractOption(named: "schemas").last ?? "Schemas"
    guard let version = extractor.remainingArguments.first, extractor.remainingArguments.count == 1 else {
      throw Refusal(
        "name the version of the release: swift package --allow-writing-to-package-directory record-schemas 1.4.0 "
          + "[--schemas FOLDER]")
    }
    guard !version.isEmpty, !version.hasPrefix("."), !version.contains("/") else {
      throw Refusal("“\(version)” cannot be a file's name; use a version such as 1.4.0")
    }
    let schemas = context.package.directoryURL.appending(path: folder)
    let current = schemas.appending(path: "current.json")
    guard let content = try? Data(contentsOf: current) else {
      throw Refusal(
        "\(current.path) cannot be read; write it with a test that calls SchemaHistory.check(), started with "
          + "PERSISTENCE_SCHEMAS=record")
    }
    let released = schemas.appending(path: "released")
    let release = released.appending(path: "\(version).json")
    if let recorded = try? Data(contentsOf: release) {
      guard recorded == content else {
        throw Refusal("the release \(version) is recorded with other schemas, and a release never changes")
      }
      print("\(release.path) is recorded")
      return
    }
    try FileManager.default.createDirectory(at: released, withIntermediateDirectories: true)
    try content.write(to: release, options: .atomic)
    print("recorded \(release.path)")
  }
}

/// A command that was not carried out, and why.
private struct Refusal: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
