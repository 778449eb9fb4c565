/** Whether the user trusts what a project's settings would run or allow, and how trust is granted and revoked. */
import { basename, dirname, join, resolve } from "node:path"
import type { Clock } from "../base/clock.ts"
import { systemClock } from "../base/clock.ts"
import { realPath } from "../base/files.ts"
import { escapeInvisible } from "../base/text.ts"
import { type TrustItem, trustItemFingerprint, trustItemText } from "./trust-items.ts"
import { readTrust, removeTrust, writeTrust } from "./trust-store.ts"

/** What a project's settings ask for, from one read. */
export interface ProjectClaim {
  /** The project's directory, with links resolved. */
  readonly directory: string
  /** Everything that needs trust. */
  readonly items: readonly TrustItem[]
  /** The fingerprint of exactly these items. A directory is trusted for one fingerprint. */
  readonly fingerprint: string
}

/** Whether the user has trusted what a project would run or allow. */
export type Trust =
  /** Nothing needs trust. */
  | { readonly state: "not-needed" }
  | { readonly state: "trusted"; readonly since: string }
  | {
      readonly state: "untrusted"
      /** When other contents were trusted. */
      readonly earlier?: string
      /** The items that were not trusted earlier. */
      readonly fresh: readonly TrustItem[]
      /** Why the trust file is unusable, in one sentence. */
      readonly problem?: string
    }

export async function readTrustState(home: string, { directory, items, fingerprint }: ProjectClaim): Promise<Trust> {
  if (items.length === 0) return { state: "not-needed" }
  const stored = await readTrust(home, directory)
  if (stored.state === "kept" && stored.fingerprint === fingerprint) return { state: "trusted", since: stored.trusted }
  if (stored.state === "kept") {
    const fresh = items.filter((part) => !stored.parts.includes(trustItemFingerprint(part)))
    return { state: "untrusted", earlier: stored.trusted, fresh }
  }
  const problem =
    stored.state === "unusable"
      ? { problem: `The file ${stored.file} cannot be used, because ${stored.why}. Nothing is trusted through it.` }
      : {}
  return { state: "untrusted", fresh: items, ...problem }
}

/** Trusts exactly these items from now on. */
export async function grantTrust(home: string, claim: ProjectClaim, clock: Clock = systemClock): Promise<void> {
  const { directory, items, fingerprint } = claim
  const trusted = clock.now().toISOString()
  await writeTrust(home, { directory, fingerprint, parts: items.map(trustItemFingerprint), trusted })
}

/** Revokes trust. Returns whether there was any. */
export async function revokeTrust(home: string, directory: string): Promise<boolean> {
  return removeTrust(home, resolveLinks(directory))
}

/** The path with links resolved. A path that does not exist is only made absolute. */
export function resolveLinks(path: string): string {
  return realPath(path) ?? resolve(path)
}

/** One sentence for each item that does not apply, and one each for all agents, commands and skills. */
export function describeUntrusted(parts: readonly TrustItem[]): readonly string[] {
  const leftOut = (what: string) => `Left out, because this project is not trusted: ${what}.`
  const filesOf = (kind: "agent" | "command" | "skill") => {
    const names = parts.filter((part) => part.kind === kind).map(({ name = "" }) => escapeInvisible(name))
    const more = names.length > MAX_FILES_NAMED ? [`${names.length - MAX_FILES_NAMED} more`] : []
    const named = [...names.slice(0, MAX_FILES_NAMED), ...more].join(", ")
    return names.length === 0 ? [] : [leftOut(`the ${kind}${names.length === 1 ? "" : "s"} in ${named}`)]
  }
  const settings = parts.filter(({ kind }) => kind !== "agent" && kind !== "command" && kind !== "skill")
  return [
    ...settings.map((part) => leftOut(`${trustItemText(part)} (${shortPath(part.source)})`)),
    ...filesOf("agent"),
    ...filesOf("command"),
    ...filesOf("skill"),
  ]
}

const MAX_FILES_NAMED = 10

const shortPath = (file: string): string => join(basename(dirname(file)), basename(file))
