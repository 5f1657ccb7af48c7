#if Postgres
  import Foundation
  import OurContexts
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization

  /// A proxy before a server, which cuts connections in the midst of their commits.
  ///
  /// It reads the messages of both sides (PostgreSQL's documentation, “Message Formats”). Each has a byte for its type and a
  /// length, except the client's first one, which has the length only.
  final class CommitCutter: Sendable {
    /// When a connection is cut.
    enum Cut: CaseIterable {
      /// Before the server gets the commit, so that it rolls back.
      case before
      /// When the server may be about to commit.
      case during
      /// After the server has committed, whose answer is dropped.
      case after
    }

    /// The URL of the server behind the proxy.
    let url: String
    private let folder: String
    private let target: String
    private let listener: Int32
    /// Of how many commits one is cut; none while it is 0.
    private let rarity = Atomic(0)
    private let done = Mutex<[Cut: Int]>([:])
    private let links = Mutex<[CutLink]>([])

    init(before server: PostgresServer) throws {
      folder = "/tmp/persistence-cut-\(UUID().uuidString.prefix(8))"
      target = server.folder + "/.s.PGSQL.5432"
      url = server.url.replacing(server.folder, with: folder)
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      listener = Self.socket(folder + "/.s.PGSQL.5432") { bind($0, $1, $2) == 0 && listen($0, 128) == 0 }
      guard listener >= 0 else { throw PersistenceError.system(errno, while: "listen", at: folder) }
      Thread.detachNewThread { [weak self, listener] in
        while true {
          let client = accept(listener, nil, nil)
          guard client >= 0, let self else {
            if client >= 0 { close(client) }
            // Another socket may get the number at once, so no other thread closes it.
            close(listener)
            return
          }
          self.connect(client)
        }
      }
    }

    deinit {
      try? FileManager.default.removeItem(atPath: folder)
    }

    /// Ends the proxy; its connections live on.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    /// How many connections were cut.
    var cuts: [Cut: Int] { done.withLock(\.self) }

    /// Cuts one of so many commits from now on, or none if it is 0.
    func cut(oneOf count: Int) { rarity.store(count, ordering: .relaxed) }

    /// Cuts all connections now.
    func cutAll() { for link in links.withLock({ $0 }) { link.cut() } }

    private func nextCut() -> Cut? {
      let count = rarity.load(ordering: .relaxed)
      guard count > 0, Int.random(in: 0..<count) == 0, let cut = Cut.allCases.randomElement() else {
        return nil
      }
      done.withLock { $0[cut, default: 0] += 1 }
      return cut
    }

    /// A socket at a path, after a call that uses it; negative if one of them fails.
    private static func socket(
      _ path: String, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Int32 {
      #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
      #else
        let kind = SOCK_STREAM
      #endif
      let descriptor = Foundation.socket(AF_UNIX, kind, 0)
      guard descriptor >= 0 else { return -1 }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
      let isUsed = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      if isUsed { return descriptor }
      close(descriptor)
      return -1
    }

    /// Connects a client with the server.
    private func connect(_ client: Int32) {
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      let server = Self.socket(target) { Foundation.connect($0, $1, $2) == 0 }
      guard server >= 0 else {
        close(client)
        return
      }
      let link = CutLink(client, server)
      links.withLock { $0.append(link) }
      Thread.detachNewThread { [self] in link.forwardRequests { self.nextCut() } }
      Thread.detachNewThread { link.forwardAnswers() }
    }
  }

  /// A connection through the proxy.
  private final class CutLink: Sendable {
    private struct State {
      /// How many statements the server was sent and has answered.
      var (sent, answered) = (0, 0)
      /// How many statements were sent when each batch ended which the server has not answered yet.
      ///
      /// The first one is the start of the connection.
      var ends = [0]
      /// Whether the server has refused a statement, and skips those up to the end of the batch.
      var isSkipping = false
      /// After how many answered statements the answers are dropped, and the connection is cut; nil if it is not.
      var limit: Int?

      mutating func sends(_ type: UInt8?) {
        switch type {
        case UInt8(ascii: "E"): sent += 1
        case UInt8(ascii: "S"): ends.append(sent)
        default: break
        }
      }

      mutating func answers(_ type: UInt8?) {
        switch type {
        case UInt8(ascii: "C"), UInt8(ascii: "I"), UInt8(ascii: "s"): answered += 1
        case UInt8(ascii: "E"): isSkipping = true
        case UInt8(ascii: "Z"):
          if !ends.isEmpty { answered = ends.removeFirst() }
          isSkipping = false
        default: break
        }
      }
    }

    private let client: Int32
    private let server: Int32
    private let state = Mutex(State())

    init(_ client: Int32, _ server: Int32) { (self.client, self.server) = (client, server) }

    deinit {
      close(client)
      close(server)
    }

    /// Ends both sides; what was sent to them is still delivered.
    func cut() {
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
    }

    /// Forwards what the client sends, until a commit that is cut.
    func forwardRequests(_ nextCut: () -> CommitCutter.Cut?) {
      defer { cut() }
      var messages = ProtocolMessages(client)
      guard let start = messages.next(isFirst: true), send(start, to: server) else { return }
      /// The names of prepared statements that commit.
      var commits: Set<String> = []
      var isCutting = false
      while let message = messages.next() {
        switch message.first {
        case UInt8(ascii: "P"):
          let (name, text) = Self.texts(message)
          // A name may be given to another statement, as that of the unnamed one is.
          if text == "COMMIT" { commits.insert(name) } else { commits.remove(name) }
        case UInt8(ascii: "B") where commits.contains(Self.texts(message).second):
          switch nextCut() {
          case .before: return waitForAnswers()
          case .during: isCutting = true
          case .after: state.withLock { $0.limit = $0.sent }
          case nil: break
          }
        default: break
        }
        state.withLock { $0.sends(message.first) }
        guard send(message, to: server) else { return }
        if isCutting, message.first == UInt8(ascii: "S") { return }
      }
    }

    /// The texts at the start of a message: the name and the text of a statement, or the names of a portal and a statement.
    private static func texts(_ message: [UInt8]) -> (first: String, second: String) {
      let parts = message.dropFirst(5).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
      let texts = parts.prefix(2).map { String(decoding: $0, as: UTF8.self) }
      return texts.count == 2 ? (texts[0], texts[1]) : ("", "")
    }

    /// Forwards what the server sends, until the answer to a commit that is cut after it.
    func forwardAnswers() {
      defer { cut() }
      var messages = ProtocolMessages(server)
      while let message = messages.next() {
        let isDropped = state.withLock { state in state.limit.map { state.answered >= $0 } ?? false }
        if !isDropped {
          guard send(message, to: client) else { return }
        }
        // The batch of the commit ends also if the server has refused a statement before it, and told the client.
        let isEnd = state.withLock { state in
          state.answers(message.first)
          return message.first == UInt8(ascii: "Z") && state.limit.map { state.answered > $0 } ?? false
        }
        if isEnd { return }
      }
    }

    /// Waits until the client was sent the answers to all statements that the server was sent.
    private func waitForAnswers() {
      let deadline = ContinuousClock.now + .seconds(10)
      while state.withLock({ $0.answered < $0.sent && !$0.isSkipping }), ContinuousClock.now < deadline {
        usleep(500)
      }
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
      var start = 0
      while start < bytes.count {
        let sent = bytes[start...].withUnsafeBytes {
          Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard sent > 0 else { return false }
        start += sent
      }
      return true
    }
  }

  /// The messages that arrive at a socket.
  private struct ProtocolMessages {
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private var start = 0
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next message; nil at the end.
    mutating func next(isFirst: Bool = false) -> [UInt8]? {
      let place = isFirst ? 0 : 1
      guard fill(place + 4) else { return nil }
      let length = bytes[(start + place)..<(start + place + 4)].reduce(0) { $0 << 8 | Int($1) }
      guard length >= 4, fill(place + length) else { return nil }
      defer { start += place + length }
      return Array(bytes[start..<(start + place + length)])
    }

    /// Reads until so many bytes are there; returns false if the other side has ended.
    private mutating func fill(_ count: Int) -> Bool {
      while bytes.count - start < count {
        if start > 0 {
          bytes.removeFirst(start)
          start = 0
        }
        let received = recv(descriptor, &buffer, buffer.count, 0)
        guard received > 0 else { return false }
        bytes += buffer[..<received]
      }
      return true
    }
  }
#endif
