/** Whether a person trusted what a project's settings would run or widen, and how that is granted and taken back. */
import { basename, dirname, join, resolve } from "node:path"
import type { Clock } from "../base/clock.ts"
import { systemClock } from "../base/clock.ts"
import { realPath } from "../base/files.ts"
import { escapeInvisible } from "../base/text.ts"
import { type TrustItem, trustItemFingerprint, trustItemText } from "./trust-items.ts"
import { readTrust, removeTrust, writeTrust } from "./trust-store.ts"

/** What one reading of a project's settings found. */
export interface ProjectClaim {
  /** The project's directory, with symlinks followed. */
  readonly directory: string
  /** Everything that needs trust. */
  readonly items: readonly TrustItem[]
  /** Of exactly these parts. A directory is trusted for one fingerprint. */
  readonly fingerprint: string
}

/** Whether a person trusted what a project would run or widen. */
export type Trust =
  /** Nothing needs trust. */
  | { readonly state: "not-needed" }
  | { readonly state: "trusted"; readonly since: string }
  | {
      readonly state: "untrusted"
      /** When other contents were trusted. */
      readonly earlier?: string
      /** Of the parts, those that were not trusted earlier. */
      readonly fresh: readonly TrustItem[]
      /** The file that says what was trusted cannot be relied on: a sentence. */
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

/** Trusts exactly what the claim holds, from now on. */
export async function grantTrust(home: string, claim: ProjectClaim, clock: Clock = systemClock): Promise<void> {
  const { directory, items, fingerprint } = claim
  const trusted = clock.now().toISOString()
  await writeTrust(home, { directory, fingerprint, parts: items.map(trustItemFingerprint), trusted })
}

/** Whether there was trust to take back. */
export async function revokeTrust(home: string, directory: string): Promise<boolean> {
  return removeTrust(home, resolveLinks(directory))
}

/** The real path. A path that does not exist stays as it is. */
export function resolveLinks(path: string): string {
  return realPath(path) ?? resolve(path)
}

/** A sentence for each part that does not count, one for all agents, one for all commands, and one for all skills. */
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
