/**
 * Resolves the remote that the user names: an address, a path, or the name of a remote of this repository. Credentials are never displayed
 * or stored.
 */
import { hash } from "node:crypto"
import { existsSync, realpathSync } from "node:fs"
import { resolve } from "node:path"
import { escapeToLine, parseRemoteAddress, remoteUrls, repositoryOf, StrataError } from "@strata/core/base"

export interface SyncRemote {
  readonly url: string
  /** Display name without credentials. */
  readonly title: string
  /** Identifies the remote in stored files: the same for all spellings of its address. */
  readonly key: string
  /** The repository of this project has this remote, so everyone who works on the project may read it. */
  readonly isProjectRemote: boolean
}

interface RemoteLookup {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

const KEY_DIGITS = 16

export async function resolveRemote(name: string, { cwd, env }: RemoteLookup): Promise<SyncRemote> {
  const repository = await repositoryOf(cwd, { home: env.HOME || undefined })
  const known = repository?.common === undefined ? new Map<string, string>() : await remoteUrls(repository.common)
  const url = resolveUrl(known.get(name) ?? name, known.has(name) ? (repository?.directory ?? cwd) : cwd)
  const identity = normalizeAddress(url)
  const isProjectRemote =
    isInside(url, repository) ||
    [...known.values()].some((one) => {
      try {
        return foldHost(normalizeAddress(resolveUrl(one, repository!.directory))) === foldHost(identity)
      } catch {
        return false // git could not reach this remote either
      }
    })
  return { url, title: identity, key: hash("sha256", identity, "hex").slice(0, KEY_DIGITS), isProjectRemote }
}

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i
const REACHED = new Set(["https", "http", "ssh", "git", "file"])

function resolveUrl(address: string, cwd: string): string {
  const refuse = (why: string) =>
    new StrataError(
      `${escapeToLine(address.replace(/:\/\/[^/\s@]+@/g, "://"))} is not a remote to sync with: ${why}.`,
      {
        code: "unusable-remote",
      },
    )
  if (address.startsWith("-") || /\p{Cc}/u.test(address)) throw refuse("it does not look like an address or a path")
  const scheme = SCHEME.exec(address)?.[1]?.toLowerCase()
  if (scheme !== undefined && !REACHED.has(scheme)) throw refuse(`use one of ${[...REACHED].join(", ")}`)
  if (scheme !== undefined) return address
  const path = resolve(cwd, address)
  if (existsSync(path)) return realpathSync(path)
  if (/^[a-z0-9+.-]*::/i.test(address)) throw refuse("an address must not name a program")
  if (parseRemoteAddress(address) === undefined && !/^[^/]+:./.test(address))
    throw refuse("there is no such directory, and no remote of that name")
  return address
}

/** Whether the path is the project's own repository, whose branches are pushed to its other remotes. */
function isInside(url: string, repository: Awaited<ReturnType<typeof repositoryOf>>): boolean {
  const path = normalizeAddress(url)
  if (repository === undefined || !existsSync(path)) return false
  const place = realpathSync(path)
  const own = [repository.directory, repository.common].filter((one) => one !== undefined && existsSync(one))
  return own.some((one) => realpathSync(one!) === place)
}

/**
 * Normalizes case and host aliases, because hosts ignore case and have several names. In doubt, a remote counts as the project's, which is
 * the safe side.
 */
const foldHost = (identity: string): string =>
  identity
    .toLowerCase()
    .replace(/^((?:[a-z0-9+.-]*:\/\/)?)(?:www|ssh|altssh)\./, "$1")
    .replace(/:\d+(?=\/)/, "")

/** Normalizes an address, so that two spellings of it are equal. */
function normalizeAddress(url: string): string {
  const address = parseRemoteAddress(url)
  if (address !== undefined) return address
  return url
    .replace(/^file:\/\//i, "")
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1")
    .replace(/\/+$/, "")
}
