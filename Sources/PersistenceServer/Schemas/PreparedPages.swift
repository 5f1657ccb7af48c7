#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import PersistencePrimitives
  import Synchronization

  /// How the pages of a model are read that requests have asked for, by the text of their parameters.
  ///
  /// Programs ask for the same first pages again and again, and to read the parameters takes as long as some of the rows.
  final class PreparedPages: Sendable {
    /// How a page is read.
    final class Page: @unchecked Sendable {  // its request reads from a context, which threads share
      let form: PageForm
      let request: AnswerableRequest
      /// The start of the link to the next page, before its token.
      let link: String
      /// The context that passes on the rows of the page once; nil if they must be fetched.
      private let context: (any SinglePassContext)?
      /// Whether the page was once too long to be read in one pass.
      private let isLong = Atomic(false)
      /// Whether it is a few rows that the store reads one after the other, and finds no others on the way.
      private let isFewRows: Bool

      /// The maximum number of records of a page that is brief.
      private static let briefLimit = 64

      init(
        _ form: PageForm, _ request: AnswerableRequest, link: String, _ context: (any SinglePassContext)?
      ) {
        (self.form, self.request, self.link, self.context) = (form, request, link, context)
        let rows = request.request
        isFewRows =
          form.limit <= Self.briefLimit && rows.predicate == nil && rows.offset == 0 && rows.after == nil
          && (try? context?.plan(for: rows))?.ordering == .byAccess
      }

      /// Whether the page takes no longer than some reads of single records.
      var isBrief: Bool { isFewRows && !isLong.load(ordering: .relaxed) }

      /// The whole page, without results that hold a moment; nil if it must be fetched.
      func whole() throws -> RecordPage.Whole? {
        guard let context, !isLong.load(ordering: .relaxed) else { return nil }
        return try RecordPage.whole(form, request.request, passedOnBy: context) {
          isLong.store(true, ordering: .relaxed)
        }
      }
    }

    private static let limit = 16
    /// The maximum length of the parameters of a page that is kept, in bytes.
    private static let sizeLimit = 256

    /// By the bytes of the parameters: their conditions tell the normal forms of a text apart (contract V3).
    ///
    /// Each page reads from the context; one that referred to a snapshot would keep that state.
    private let pages = Lock<[StoredName: Page]>([:])

    /// The page with some parameters; nil if it was not kept.
    func page(_ parameters: String) -> Page? {
      let key = StoredName(parameters)
      return pages.withLock { $0[key] }
    }

    /// Whether parameters are short enough to be kept.
    static func keeps(_ parameters: String) -> Bool { parameters.utf8.count <= sizeLimit }

    /// Keeps a page that reads the newest state of the store, and only its own model.
    func keep(_ page: Page, _ parameters: String) {
      pages.withLock { pages in
        if pages.count >= Self.limit { pages.removeAll() }
        pages[StoredName(parameters)] = page
      }
    }
  }

  extension StoreService {
    /// How a page is read that is known to be brief; nil for any other request.
    func briefPage(of served: ServiceRequest) -> PreparedPages.Page? {
      guard case .records(let name) = served.path, !served.wantsLines, !served.wantsCount,
        served.ifMatch == nil, let page = known.model(named: name)?.pages.page(served.parameters ?? ""),
        page.isBrief
      else { return nil }
      return page
    }

    /// How the page of a request is read by a known schema of the store.
    func preparedPage(_ served: ServiceRequest, of model: KnownModels.Model) throws -> PreparedPages.Page {
      let text = served.parameters ?? ""
      if let known = model.pages.page(text) { return known }
      let parameters = try served.parameters(known: WireQuery.parameters)
      // It has no references to follow, so a query that names one is malformed here.
      let query = try WireQuery(parameters, model.schema, limits: queryLimits)
      let limit = try pageLimit(of: query)
      let asked = try answerable(query, limit: limit + 1)
      let isSimple = !query.query.isRelated && query.inclusions.isEmpty
      let hasWholeRows = isSimple && query.selection == nil
      // A page after another one is seldom asked for twice. That it is too long for one pass would be forgotten.
      let isKept = parameters["after"] == nil && isSimple && PreparedPages.keeps(text)
      let page = PreparedPages.Page(
        PageForm(query, asked.order, limit: limit, sizeLimit: limits.pageBytes, model.writer), asked.request,
        link: "<\(served.path.text)?\(served.nextParameters)",
        isKept && hasWholeRows ? (context as? any SinglePassContext) : nil)
      if isKept { model.pages.keep(page, text) }
      return page
    }
  }
#endif
