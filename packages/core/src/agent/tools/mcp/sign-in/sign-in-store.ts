/**
 * Stores sign-ins: one file per address, readable only by its owner. Tokens belong to the address and not to the name, so that a project
 * cannot obtain them for its own server.
 */
import { hash, randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/client"

/** Directory name below Strata's root. */
export const SIGN_INS = "sign-ins"
const OWNER_ONLY = { directory: 0o700, file: 0o600 }

export interface SignIn {
  readonly url: string
  readonly tokens: OAuthTokens
  /** Registration of Strata with the authorization server. */
  readonly client: OAuthClientInformationMixed
  readonly authorizationServer: string
  readonly metadata?: AuthorizationServerMetadata | undefined
  /** Resource that the tokens are for, as named by the server. */
  readonly resource?: string | undefined
}

export interface SignInStore {
  read(url: string): Promise<SignIn | undefined>
  write(signIn: SignIn): Promise<void>
  remove(url: string): Promise<void>
}

/** `root`: Strata's root directory. */
export function signInFiles(root: string): SignInStore {
  const folder = join(root, SIGN_INS)
  const fileOf = (url: string) => join(folder, `${hash("sha256", url, "hex")}.json`)
  return {
    async read(url) {
      const text = await readFile(fileOf(url), "utf8").catch(() => undefined)
      return text === undefined ? undefined : usable(text, url)
    },
    async write(signIn) {
      const file = fileOf(signIn.url)
      const draft = `${file}.${randomUUID()}.draft`
      await mkdir(folder, { recursive: true, mode: OWNER_ONLY.directory })
      try {
        await writeFile(draft, `${JSON.stringify(signIn)}\n`, { flag: "wx", mode: OWNER_ONLY.file, flush: true })
        await rename(draft, file)
      } finally {
        await rm(draft, { force: true })
      }
    },
    remove: (url) => rm(fileOf(url), { force: true }),
  }
}

/** Parses a file. A damaged file is ignored, so that the user signs in again. */
function usable(text: string, url: string): SignIn | undefined {
  try {
    const given = JSON.parse(text) as Partial<SignIn> | null
    const isWhole =
      typeof given?.tokens?.access_token === "string" &&
      typeof given.client?.client_id === "string" &&
      typeof given.authorizationServer === "string"
    return isWhole && given.url === url ? (given as SignIn) : undefined
  } catch {
    return undefined
  }
}
