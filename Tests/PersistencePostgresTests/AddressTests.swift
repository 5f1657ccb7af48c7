#if Postgres
  import PersistenceDriver
  import Testing

  @testable import PersistencePostgres

  /// URLs of servers.
  @Suite struct AddressTests {
    private func address(_ url: String) throws -> [String: String] {
      let address = try PostgresAddress(try StoreURL(url), isReadOnly: false)
      return Dictionary(address.parameters.map { ($0.keyword, $0.value) }) { $1 }
    }

    @Test("a URL has a user, hosts with ports, and a database, each with escapes of its own")
    func parts() throws {
      let parts = try address("postgres://an%40n:p%2Fw%3A@db.example.com:5433/my%2Fmovies")
      #expect(parts["user"] == "an@n")
      #expect(parts["password"] == "p/w:")
      #expect(parts["host"] == "db.example.com")
      #expect(parts["port"] == "5433")
      #expect(parts["dbname"] == "my/movies")
    }

    @Test("several hosts, addresses in brackets, sockets and services are addresses too")
    func forms() throws {
      let several = try address("postgresql://a,b:5433,[::1]:5434/x")
      #expect(several["host"] == "a,b,::1")
      #expect(several["port"] == ",5433,5434")
      #expect(try address("postgres://%2Fvar%2Frun%2Fpostgresql/x")["host"] == "/var/run/postgresql")
      #expect(try address("postgres:///x?host=/tmp/socket")["host"] == "/tmp/socket")
      #expect(try address("postgres:///x@y?host=/tmp/socket")["dbname"] == "x@y")
      #expect(try address("postgres://host/x%40y")["dbname"] == "x@y")
      #expect(try address("postgres:movies")["dbname"] == "movies")
      #expect(try address("postgres:?service=movies")["service"] == "movies")
    }

    @Test("a server on another host must prove its name, unless the URL chooses otherwise")
    func encryption() throws {
      #expect(try address("postgres://db.example.com/x")["sslmode"] == "verify-full")
      #expect(try address("postgres://db.example.com/x?sslmode=require")["sslmode"] == "require")
      #expect(try address("postgres://localhost/x")["sslmode"] == nil)
      #expect(try address("postgres://localhost/x")["sslrootcert"] == nil)
      #expect(try address("postgres:///x?host=/tmp")["sslmode"] == nil)
      #expect(try address("postgres://localhost,db.example.com/x")["sslmode"] == "verify-full")
    }

    @Test(
      "E2 a malformed address throws invalidURL",
      arguments: [
        "postgres://host:port/x", "postgres://host:0/x", "postgres://[::1/x", "postgres:user@host/x",
        "postgres://host/x?dbname=y", "postgres://host/x?host=y",
      ])
    func malformed(_ url: String) {
      #expect { try address(url) } throws: { ($0 as? PersistenceError)?.code == .invalidURL }
    }

    @Test("E2 an unknown option, or a value that an option does not accept, throws invalidURL")
    func options() {
      for query in [
        "ssl_mode=require", "sslmode=yes", "pool=0", "busy=5", "connect_timeout=3", "readers=standby",
        "readers=replica&target_session_attrs=any", "readers=replica&pooler=transaction",
      ] {
        #expect {
          try StorageEngine.postgres.open(
            StoreURL("postgres://localhost:1/x?\(query)"), monitoring: Monitoring())
        } throws: {
          ($0 as? PersistenceError)?.code == .invalidURL
        }
      }
    }

    @Test("standbys are looked for at the same servers")
    func standbys() throws {
      let primary = try PostgresAddress(try StoreURL("postgres://a,b:5433/x"), isReadOnly: false)
      let standbys = Dictionary(try primary.ofStandbys().parameters.map { ($0.keyword, $0.value) }) { $1 }
      #expect(standbys["host"] == "a,b")
      #expect(standbys["target_session_attrs"] == "standby")
      #expect(try primary.ofStandbys().isOfStandbys && !primary.isOfStandbys)
    }

    @Test("each server of a list is tried on its own, and a preferred role is sought at all of them first")
    func attempts() throws {
      func attempts(_ url: String, _ environment: [String: String] = [:]) throws -> [String] {
        try PostgresAddress(StoreURL(url), isReadOnly: false).attempts(environment).map { parameters in
          let values = Dictionary(uniqueKeysWithValues: parameters.map { ($0.keyword, $0.value) })
          return ["host", "hostaddr", "port", "target_session_attrs"].map { values[$0] ?? "" }
            .joined(separator: " ")
        }
      }
      #expect(try attempts("postgres://a/x") == ["a   read-write"])
      #expect(
        try attempts("postgres://a,b:5433/x?hostaddr=1.1.1.1,2.2.2.2")
          == ["a 1.1.1.1 5432 read-write", "b 2.2.2.2 5433 read-write"])
      #expect(
        try attempts("postgres:///x?host=a,b&port=5433") == ["a  5433 read-write", "b  5433 read-write"])
      #expect(
        try attempts("postgres://a,b/x?target_session_attrs=prefer-standby")
          == ["a   standby", "b   standby", "a   any", "b   any"])
      // libpq takes the list as a whole where it fills a gap, and where the environment has a part in it.
      #expect(try attempts("postgres://a,b/x?hostaddr=,2.2.2.2").count == 1)
      #expect(try attempts("postgres://a,b/x", ["PGHOSTADDR": "1.1.1.1,2.2.2.2"]).count == 1)
      #expect(try attempts("postgres://a,b/x?service=movies").count == 1)
    }

    @Test("a location lists each host with its own port")
    func location() throws {
      func location(_ url: String) throws -> String {
        try PostgresAddress(try StoreURL(url), isReadOnly: false).location
      }
      #expect(try location("postgres://ann:geheim@a,b:5433/x") == "postgres://a,b:5433/x")
      #expect(try location("postgres:///x?host=/tmp&port=5433") == "postgres:///tmp:5433/x")
    }

    @Test(
      "E2 the error of a malformed URL does not contain its password",
      arguments: [
        "postgres:ann:geheim@host/x", "postgresql:ann:geheim@host", "postgres://ann:ge?geheim@host/x",
        "postgres://ann:geheim@host:port/x", "postgres://ann:12/geheim@host/x",
        "postgres://ann:geheim@1/geheim@host/x",
      ])
    func malformedSecrets(_ url: String) {
      #expect {
        try address(url)
      } throws: {
        ($0 as? PersistenceError)?.code == .invalidURL && !"\($0)".contains("geheim")
      }
    }

    @Test("an address without a name needs proof too")
    func numericAddress() throws {
      #expect(try address("postgres:x?hostaddr=192.0.2.1")["sslmode"] == "verify-full")
      #expect(try address("postgres:x?hostaddr=127.0.0.1")["sslmode"] == nil)
    }

    @Test("a name of this host proves nothing about an address of another one")
    func nameAndAddress() throws {
      let both = "postgres:x?host=localhost&hostaddr=192.0.2.1"
      #expect(try address(both)["sslmode"] == "verify-full")
      #expect(try address("postgres:x?host=db.example.com&hostaddr=127.0.0.1")["sslmode"] == "verify-full")
      // The file of services may name both, which libpq tells.
      let service = try PostgresAddress(try StoreURL("postgres:?service=movies"), isReadOnly: false)
      #expect(service.refuses(mode: "prefer", host: "localhost", address: "192.0.2.1"))
      #expect(service.refuses(mode: "prefer", host: "db.example.com", address: ""))
      #expect(!service.refuses(mode: "prefer", host: "localhost", address: "127.0.0.1"))
      #expect(!service.refuses(mode: "prefer", host: "/tmp", address: ""))
      #expect(!service.refuses(mode: "verify-full", host: "db.example.com", address: ""))
    }

    @Test("E2 neither a location nor an error contains the password")
    func secrets() throws {
      let url = "postgres://ann:geheim@localhost:1/x?password=geheim&connect=1s"
      #expect(try !PostgresAddress(try StoreURL(url), isReadOnly: false).location.contains("geheim"))
      do {
        _ = try PostgresContext(url: url)
        Issue.record("a server listens at port 1")
      } catch let error as PersistenceError {
        #expect(error.code == .unreachable)
        #expect(!"\(error)".contains("geheim"))
      }
    }
  }
#endif
