/**
 * Tokens of one server for its connection. A refused token is renewed once; if that fails, the user has to sign in. Nothing here asks the
 * user or opens a browser.
 */
import type { AuthProvider, InsufficientScopeError } from "@modelcontextprotocol/client"
import { mcpLibrary } from "../client-library.ts"
import type { SignIn, SignInStore } from "./sign-in-store.ts"

const PROBE_MS = 5_000 // time limit for checking whether a server that refuses access offers sign-in

/** Error codes with which the server rejects the refresh token. Other errors may be temporary. */
const FINAL: ReadonlySet<string> = new Set(["invalid_grant", "invalid_client", "unauthorized_client"])

const signInSentence = (server: string, when: string) =>
  `you have to sign in ${when}. Type /mcp login ${server} in "strata chat"`

class SignInNeededError extends Error {
  readonly code = "SIGN_IN_NEEDED"

  constructor(server: string) {
    super(signInSentence(server, "first"))
  }
}

export const isSignInNeeded = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | undefined)?.code === "SIGN_IN_NEEDED"

/** Fetches with a response of the global class, which the client requires. Some web servers replace the global class. */
async function fetchAsGlobal(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  if (response instanceof Response) return response
  const { status, headers, text } = response as Response
  return new Response(await text.call(response), { status, headers })
}

/** Sign-in information in a refusal. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL
  readonly scope?: string
}

export class ServerAuth implements AuthProvider {
  readonly url: string
  readonly #server: string
  readonly #store: SignInStore
  #sent: string | undefined
  #renewing: Promise<void> | undefined
  #challenge: Challenge = {}

  constructor(server: string, url: URL, store: SignInStore) {
    this.#server = server
    this.url = url.href
    this.#store = store
  }

  get challenge(): Challenge {
    return this.#challenge
  }

  /** Values that must be redacted in messages. */
  get secrets(): readonly string[] {
    return this.#sent === undefined ? [] : [this.#sent]
  }

  async token(): Promise<string | undefined> {
    this.#sent = (await this.#store.read(this.url))?.tokens.access_token
    return this.#sent
  }

  /** Renews the token. Concurrent refused calls share the renewal. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const { extractWWWAuthenticateParams } = await mcpLibrary()
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
    this.#challenge = { ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}), ...(scope ? { scope } : {}) }
    this.#renewing ??= this.#renew(this.#sent).finally(() => {
      this.#renewing = undefined
    })
    await this.#renewing
  }

  /**
   * The error message for a call that needs more permissions than the token has; the next sign-in requests both. `undefined` for other
   * failures. The connection remains open, because other calls still work.
   */
  async missingRights(failure: unknown): Promise<string | undefined> {
    const { requiredScope, resourceMetadataUrl } = Object(failure) as Partial<InsufficientScopeError>
    if (requiredScope === undefined) return undefined
    const kept = await this.#store.read(this.url)
    const scopes = [this.#challenge.scope, kept?.tokens.scope, requiredScope].flatMap(
      (scope) => scope?.split(" ") ?? [],
    )
    const scope = [...new Set(scopes)].join(" ")
    this.#challenge = { ...this.#challenge, ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}), scope }
    return signInSentence(this.#server, "again, because this needs more rights")
  }

  async #renew(refused: string | undefined): Promise<void> {
    const kept = await this.#store.read(this.url)
    if (kept && kept.tokens.access_token !== refused) return // another process has renewed it
    if (!kept && !(await this.#offersSignIn())) throw Object.assign(new Error("access is refused"), { status: 401 })
    if (!kept?.tokens.refresh_token) throw new SignInNeededError(this.#server)
    await this.#refresh(kept, kept.tokens.refresh_token)
  }

  async #refresh(kept: SignIn, refreshToken: string): Promise<void> {
    const { OAuthError, refreshAuthorization } = await mcpLibrary()
    const { authorizationServer, client, metadata, resource } = kept
    try {
      const tokens = await refreshAuthorization(authorizationServer, {
        clientInformation: client,
        refreshToken,
        fetchFn: fetchAsGlobal,
        ...(metadata ? { metadata } : {}),
        ...(resource === undefined ? {} : { resource: new URL(resource) }),
      })
      await this.#store.write({ ...kept, tokens })
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      if (!FINAL.has(error.code)) throw new Error(`its sign-in could not be renewed now (${error.code})`)
      const newest = await this.#store.read(this.url)
      if (newest && newest.tokens.access_token !== kept.tokens.access_token) return // another process has renewed it
      await this.#store.remove(this.url)
      throw new SignInNeededError(this.#server)
    }
  }

  /** Whether the server offers sign-in. It may refuse because it expects a key in a header. */
  async #offersSignIn(): Promise<boolean> {
    if (this.#challenge.resourceMetadataUrl) return true
    const { discoverOAuthServerInfo } = await mcpLibrary()
    const fetchFn = (url: string | URL, init?: RequestInit) =>
      fetch(url, { ...init, signal: AbortSignal.timeout(PROBE_MS) })
    return discoverOAuthServerInfo(this.url, { fetchFn }).then(
      ({ authorizationServerMetadata }) => authorizationServerMetadata !== undefined,
      () => false,
    )
  }
}
