/** Which remote the person means: an address, a path, or the name of a remote of this repository. Its credentials are never shown or kept. */
import { hash } from "node:crypto"
import { existsSync, realpathSync } from "node:fs"
import { resolve } from "node:path"
import { addressIn, printable, remoteUrls, repositoryOf, StrataError } from "@strata/core/base"

export interface SyncRemote {
  readonly url: string
  /** For a person, without credentials. */
  readonly title: string
  /** By which it is remembered: the same for all spellings of an address. */
  readonly key: string
  /** The repository of this project has it as a remote, so everyone who works on the project may read it. */
  readonly isProjects: boolean
}

interface Where {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

const KEY_DIGITS = 16

export async function remoteNamed(given: string, { cwd, env }: Where): Promise<SyncRemote> {
  const repository = await repositoryOf(cwd, { home: env.HOME || undefined })
  const known = repository?.common === undefined ? new Map<string, string>() : await remoteUrls(repository.common)
  const url = urlOf(known.get(given) ?? given, known.has(given) ? (repository?.directory ?? cwd) : cwd)
  const identity = identityOf(url)
  const isProjects =
    isInside(url, repository) ||
    [...known.values()].some((one) => {
      try {
        return folded(identityOf(urlOf(one, repository!.directory))) === folded(identity)
      } catch {
        return false // a remote that git would not reach
      }
    })
  return { url, title: identity, key: hash("sha256", identity, "hex").slice(0, KEY_DIGITS), isProjects }
}

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i
const REACHED = new Set(["https", "http", "ssh", "git", "file"])

function urlOf(given: string, cwd: string): string {
  const wrong = (why: string) =>
    new StrataError(`${printable(given.replace(/:\/\/[^/\s@]+@/g, "://"))} is not a remote to sync with: ${why}.`, {
      code: "unusable-remote",
    })
  if (given.startsWith("-") || /\p{Cc}/u.test(given)) throw wrong("it does not look like an address or a path")
  const scheme = SCHEME.exec(given)?.[1]?.toLowerCase()
  if (scheme !== undefined && !REACHED.has(scheme)) throw wrong(`use one of ${[...REACHED].join(", ")}`)
  if (scheme !== undefined) return given
  const path = resolve(cwd, given)
  if (existsSync(path)) return realpathSync(path)
  if (/^[a-z0-9+.-]*::/i.test(given)) throw wrong("an address must not name a program")
  if (addressIn(given) === undefined && !/^[^/]+:./.test(given))
    throw wrong("there is no such directory, and no remote of that name")
  return given
}

/** The repository of the project itself: its branches are pushed where the others are. */
function isInside(url: string, repository: Awaited<ReturnType<typeof repositoryOf>>): boolean {
  const path = identityOf(url)
  if (repository === undefined || !existsSync(path)) return false
  const place = realpathSync(path)
  const own = [repository.directory, repository.common].filter((one) => one !== undefined && existsSync(one))
  return own.some((one) => realpathSync(one!) === place)
}

/** Hosts of repositories take any case, and have several names for one place. Being taken for the project's is the careful side. */
const folded = (identity: string): string =>
  identity
    .toLowerCase()
    .replace(/^((?:[a-z0-9+.-]*:\/\/)?)(?:www|ssh|altssh)\./, "$1")
    .replace(/:\d+(?=\/)/, "")

/** Two spellings of one address are one. */
function identityOf(url: string): string {
  const address = addressIn(url)
  if (address !== undefined) return address
  return url
    .replace(/^file:\/\//i, "")
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1")
    .replace(/\/+$/, "")
}
