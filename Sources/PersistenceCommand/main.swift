import Foundation
import PersistenceTool

// The first interrupt stops the work at the next safe point, the second one exits at once. Both keep committed data.
let interruption = Interruption()
let session = ToolSession(
  output: ByteOutput(fileDescriptor: STDOUT_FILENO, name: "standard output"),
  messages: ByteOutput(fileDescriptor: STDERR_FILENO, name: "standard error"), engines: ToolEngines.all,
  executable: Bundle.main.executableURL,
  isInterrupted: { interruption.isRequested })
exit(ToolRunner.run(Array(CommandLine.arguments.dropFirst()), in: session))
