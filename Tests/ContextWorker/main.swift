// Does what a test asks of another process: see WorkerCommand.
import ContextTestSupport
import Foundation

exit(WorkerCommand.run(Array(CommandLine.arguments.dropFirst())))
