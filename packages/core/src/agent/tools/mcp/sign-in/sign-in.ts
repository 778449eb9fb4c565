/**
 * Signs the user in to a server: registers Strata, shows the address, waits for the browser or for pasted input, and stores the tokens. The
 * client library implements the protocol, with PKCE so that only this process can redeem the code.
 */
import { randomBytes, timingSafeEqual } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type {
  auth,
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from "@modelcontextprotocol/client"
import { errorMessage } from "../../../../base/errors.ts"
import { escapeInvisible } from "../../../../base/text.ts"
import type { SignInUser } from "../../../../tools/tool.ts"
import { mcpLibrary } from "../client-library.ts"
import type { Challenge } from "./server-auth.ts"
import type { SignInStore } from "./sign-in-store.ts"

const STATE_BYTES = 32
const WHY_CHARACTERS = 300

export interface SignInOptions {
  readonly url: string
  readonly challenge: Challenge
  readonly store: SignInStore
  readonly user: SignInUser
}

/** Signs in. On failure, throws an error with a sentence and stores nothing. */
export async function signIn({ url, challenge, store, user }: SignInOptions): Promise<void> {
  const state = randomBytes(STATE_BYTES).toString("base64url")
  const loopback = await openLoopback(state)
  const back = new AbortController()
  try {
    const flow = new SignInFlow(loopback.url, state)
    await ask(flow, { serverUrl: url, ...challenge })
    const address = checkedAddress(flow.address)
    const params = await Promise.race([
      loopback.callback,
      user.visit(address, back.signal).then((pasted) => paramsIn(pasted, state)),
    ])
    const code = codeIn(params)
    const iss = params.get("iss")
    await ask(flow, { serverUrl: url, ...challenge, authorizationCode: code, ...(iss === null ? {} : { iss }) })
    await store.write({ url, ...flow.result() })
  } finally {
    back.abort()
    loopback.close()
  }
}

/** Runs one step of the protocol. Error messages are shortened, because a server may respond with a complete page. */
async function ask(flow: SignInFlow, step: Parameters<typeof auth>[1]): Promise<void> {
  const { auth } = await mcpLibrary()
  try {
    await auth(flow, step)
  } catch (error) {
    const whole = escapeInvisible(errorMessage(error)).replace(/\.$/, "")
    const why = whole.length > WHY_CHARACTERS ? `${whole.slice(0, WHY_CHARACTERS)}…` : whole
    throw new Error(`The sign-in did not work: ${why}. Nothing was kept.`, { cause: error })
  }
}

/** Validates the address, which comes from the server: a browser may act on non-web addresses. */
function checkedAddress(address: URL | undefined): string {
  const isWeb = address?.protocol === "https:" || (address?.protocol === "http:" && isLoopback(address.hostname))
  if (!address || !isWeb) throw new Error("The server names no safe address to sign in at. Nothing was opened.")
  return address.href
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "127.0.0.1" || host === "[::1]"

/** Parses pasted input: the complete address of the page that could not be opened, or the code alone. */
function paramsIn(pasted: string | undefined, state: string): URLSearchParams {
  if (pasted === undefined) throw new Error("The sign-in was cancelled. Nothing was kept.")
  const text = pasted.trim()
  if (!text.includes("=")) return new URLSearchParams({ code: text })
  const params = URL.canParse(text) ? new URL(text).searchParams : new URLSearchParams(text.replace(/^\?/, ""))
  if (!isEqualInConstantTime(params.get("state"), state))
    throw new Error("This address belongs to another sign-in. Start again.")
  return params
}

function codeIn(params: URLSearchParams): string {
  const code = params.get("code")
  if (code) return code
  const error = /^[a-z_]{1,60}$/.exec(params.get("error") ?? "")?.[0]
  throw new Error(`The server did not let you in${error ? ` (${error})` : ""}. Nothing was kept.`)
}

/** One sign-in, in memory. Each sign-in registers again, because the registration includes the port of the redirect address. */
class SignInFlow implements OAuthClientProvider {
  readonly redirectUrl: string
  readonly #state: string
  #client: OAuthClientInformationMixed | undefined
  #tokens: OAuthTokens | undefined
  #verifier = ""
  #discovered: OAuthDiscoveryState | undefined
  #resource: string | undefined
  address: URL | undefined

  constructor(redirectUrl: string, state: string) {
    this.redirectUrl = redirectUrl
    this.#state = state
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: "Strata",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    }
  }

  state(): string {
    return this.#state
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.#client
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client
  }

  tokens(): OAuthTokens | undefined {
    return this.#tokens
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens
  }

  redirectToAuthorization(address: URL): void {
    this.address = address
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  saveDiscoveryState(discovered: OAuthDiscoveryState): void {
    this.#discovered = discovered
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered
  }

  saveResourceUrl(resource: string): void {
    this.#resource = resource
  }

  result() {
    if (!this.#tokens || !this.#client || !this.#discovered) throw new Error("The server gave no token. Sign in again.")
    return {
      tokens: this.#tokens,
      client: this.#client,
      authorizationServer: this.#discovered.authorizationServerUrl,
      metadata: this.#discovered.authorizationServerMetadata,
      resource: this.#resource,
    }
  }
}

/**
 * Path of the redirect address. A local server waits for the browser on a port chosen by the system. Only a request with this sign-in's
 * state is accepted, and nothing from the request is displayed.
 */
const PATH = "/callback"
const DONE = "Signed in. You can close this window and go back to the terminal."
const WRONG_REQUEST = "This is not the sign-in that Strata waits for."

interface Loopback {
  readonly url: string
  /** Parameters that the browser delivers. */
  readonly callback: Promise<URLSearchParams>
  close(): void
}

async function openLoopback(state: string): Promise<Loopback> {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>()
  const server = createServer((request, response) => {
    const { pathname, searchParams } = targetOf(request.url)
    const isOurs =
      request.method === "GET" && pathname === PATH && isEqualInConstantTime(searchParams.get("state"), state)
    response.writeHead(isOurs ? 200 : 400, { "content-type": "text/plain; charset=utf-8", connection: "close" })
    response.end(isOurs ? DONE : WRONG_REQUEST)
    if (isOurs) resolve(searchParams)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    callback: promise,
    close: () => {
      server.close()
      server.closeIdleConnections()
    },
  }
}

/** Parses the request target. Any page in the browser can send a request here, including one with an invalid target. */
const targetOf = (target = "/"): URL => URL.parse(target, "http://127.0.0.1") ?? new URL("http://127.0.0.1/")

function isEqualInConstantTime(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ""), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
