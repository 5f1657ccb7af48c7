#if HTTP
  import Hummingbird
  import Persistence
  import PersistenceServer
  import PersistenceSQLite

  enum MountedStore {
    static func application(_ writeToken: String) throws -> some ApplicationProtocol {
      let context = try SQLiteContext(path: "films.sqlite")
      let tokens = try AccessTokens(write: [writeToken])  // at least 16 visible ASCII characters
      let router = Router()
      router.get("/") { _, _ in "Films" }
      StoreServer(context, tokens: tokens).addRoutes(to: router.group("store"))  // /store/models/Film/records
      return Application(router: router)
    }
  }
#endif
