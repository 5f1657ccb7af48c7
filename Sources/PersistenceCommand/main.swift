import Foundation
import PersistenceTool

// The first interrupt asks the work to stop at the next safe place, the second one stops it where it stands; both
// leave what was committed.
let interruption = Interruption()
let session = ToolSession(
  output: ByteOutput(fileDescriptor: STDOUT_FILENO, name: "standard output"),
  messages: ByteOutput(fileDescriptor: STDERR_FILENO, name: "standard error"), engines: ToolEngines.all,
  executable: Bundle.main.executableURL,
  isInterrupted: { interruption.isRequested })
exit(ToolRunner.run(Array(CommandLine.arguments.dropFirst()), in: session))
