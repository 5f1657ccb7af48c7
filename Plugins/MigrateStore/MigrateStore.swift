import Foundation
import PackagePlugin

/// `swift package migrate-store SOURCE DESTINATION …`: starts `persistence migrate` with the same arguments and ends
/// with its exit code.
@main
struct MigrateStore: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let tool = Process()
    tool.executableURL = try context.tool(named: "PersistenceCommand").url
    tool.arguments = ["migrate"] + arguments
    try tool.run()
    tool.waitUntilExit()
    if tool.terminationStatus != 0 { exit(tool.terminationStatus) }
  }
}
