import Foundation
import PackagePlugin

/// `swift package migrate-store SOURCE DESTINATION …`: builds the tool, starts `persistence migrate` with the same
/// arguments and ends with its exit code.
///
/// The tool is asked for when the command is given. Were it a dependency of this plug-in, every build of this package
/// would make all of it twice, once as a tool of the build.
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

  /// The tool, built in the configuration that `swift package` was given.
  private func builtTool() throws -> URL {
    let build = try packageManager.build(.product("persistence"), parameters: .init(configuration: .inherit))
    guard build.succeeded else { throw Mistake("persistence does not build:\n\(build.logText)") }
    guard let tool = build.builtArtifacts.first(where: { $0.url.lastPathComponent == "persistence" }) else {
      throw Mistake("the build says that it succeeded, and left no tool called persistence")
    }
    return tool.url
  }
}

/// Why there is no tool to start.
private struct Mistake: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
