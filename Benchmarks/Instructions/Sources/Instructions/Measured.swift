/// The next operation to count.
nonisolated(unsafe) private var work: () throws -> Void = {}
nonisolated(unsafe) private var failure: (any Error)?

/// The function that Callgrind counts, with a dump after each call.
///
/// Callgrind finds it by ``symbol``, so it is neither private nor inlined.
@inline(never)
func doCountedWork() {
  do { try work() } catch { failure = error }
}

/// The symbol of that function.
let symbol = "$s12Instructions13doCountedWorkyyF"

/// Runs a counted operation.
func measured(_ body: @escaping () throws -> Void) throws {
  work = body
  doCountedWork()
  work = {}
  if let failure { throw failure }
}
