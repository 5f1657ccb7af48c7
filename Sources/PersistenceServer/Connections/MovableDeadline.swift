#if HTTP
  import NIOCore

  /// A time at which a channel is closed, unless it is moved before: with most requests, so its timer stays as it is and
  /// looks at the deadline when it fires.
  ///
  /// It is used on the channel's event loop only.
  final class MovableDeadline {
    private let channel: any Channel
    private var deadline: NIODeadline?
    private var timer: (time: NIODeadline, task: Scheduled<Void>)?

    init(_ channel: any Channel) { self.channel = channel }

    /// Sets the deadline to a time from now.
    func set(in time: Duration) {
      let deadline = channel.eventLoop.now + TimeAmount(time)
      self.deadline = deadline
      guard timer.map({ $0.time > deadline }) ?? true else { return }
      timer?.task.cancel()
      schedule(deadline)
    }

    /// Removes the deadline.
    func remove() { deadline = nil }

    /// Removes the deadline and the timer, which refers to the channel.
    func end() {
      remove()
      timer?.task.cancel()
      timer = nil
    }

    private func schedule(_ time: NIODeadline) {
      timer = (time, channel.eventLoop.assumeIsolated().scheduleTask(deadline: time) { self.fire() })
    }

    private func fire() {
      timer = nil
      guard let deadline else { return }
      if deadline <= channel.eventLoop.now { channel.closeAtOnce() } else { schedule(deadline) }
    }
  }
#endif
