import Foundation
import PackagePlugin

/// `swift package migrate-store SOURCE DESTINATION …`: builds the tool, runs `persistence migrate` with the same arguments
/// and exits with its exit code.
///
/// The plug-in builds the tool on demand. As a dependency of the plug-in, the tool would be built twice in every build of
/// this package.
@main
struct MigrateStore: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let tool = Process()
    tool.executableURL = try builtTool()
    tool.arguments = ["migrate"] + arguments
    try tool.run()
    tool.waitUntilExit()
    if tool.terminationStatus != 0 { exit(tool.terminationStatus) }
  }

  /// Builds the tool in the configuration of `swift package`.
  private func builtTool() throws -> URL {
    let build = try packageManager.build(.product("persistence"), parameters: .init(configuration: .inherit))
    guard build.succeeded else { throw BuildFailure("the build of persistence failed:\n\(build.logText)") }
    guard let tool = build.builtArtifacts.first(where: { $0.url.lastPathComponent == "persistence" }) else {
      throw BuildFailure("the build succeeded but produced no executable named persistence")
    }
    return tool.url
  }
}

/// A failure to build the tool.
private struct BuildFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
