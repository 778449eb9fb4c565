/** Whether a person trusted what a project's settings would run or widen, and how that is granted and taken back. */
import { basename, dirname, join, resolve } from "node:path"
import type { Clock } from "../base/clock.ts"
import { systemClock } from "../base/clock.ts"
import { realPath } from "../base/files.ts"
import { escaped } from "../base/text.ts"
import { type ProjectPart, partFingerprint, partText } from "./project-parts.ts"
import { readTrust, removeTrust, writeTrust } from "./trust-store.ts"

/** What one reading of a project's settings found. */
export interface ProjectClaim {
  /** The project's directory, with symlinks followed. */
  readonly directory: string
  /** Everything that needs trust. */
  readonly parts: readonly ProjectPart[]
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
      readonly fresh: readonly ProjectPart[]
      /** The file that says what was trusted cannot be relied on: a sentence. */
      readonly problem?: string
    }

export async function trustOf(home: string, { directory, parts, fingerprint }: ProjectClaim): Promise<Trust> {
  if (parts.length === 0) return { state: "not-needed" }
  const stored = await readTrust(home, directory)
  if (stored.state === "kept" && stored.fingerprint === fingerprint) return { state: "trusted", since: stored.trusted }
  if (stored.state === "kept") {
    const fresh = parts.filter((part) => !stored.parts.includes(partFingerprint(part)))
    return { state: "untrusted", earlier: stored.trusted, fresh }
  }
  const problem =
    stored.state === "unusable"
      ? { problem: `The file ${stored.file} cannot be used, because ${stored.why}. Nothing is trusted through it.` }
      : {}
  return { state: "untrusted", fresh: parts, ...problem }
}

/** Trusts exactly what the claim holds, from now on. */
export async function grantTrust(home: string, claim: ProjectClaim, clock: Clock = systemClock): Promise<void> {
  const { directory, parts, fingerprint } = claim
  const trusted = clock.now().toISOString()
  await writeTrust(home, { directory, fingerprint, parts: parts.map(partFingerprint), trusted })
}

/** Whether there was trust to take back. */
export async function revokeTrust(home: string, directory: string): Promise<boolean> {
  return removeTrust(home, followed(directory))
}

/** The real path. A path that does not exist stays as it is. */
export function followed(path: string): string {
  return realPath(path) ?? resolve(path)
}

/** A sentence for each part that does not count, one for all agents, one for all commands, and one for all skills. */
export function leftOutSentences(parts: readonly ProjectPart[]): readonly string[] {
  const leftOut = (what: string) => `Left out, because this project is not trusted: ${what}.`
  const filesOf = (kind: "agent" | "command" | "skill") => {
    const names = parts.filter((part) => part.kind === kind).map(({ name = "" }) => escaped(name))
    const more = names.length > FILES_NAMED ? [`${names.length - FILES_NAMED} more`] : []
    const named = [...names.slice(0, FILES_NAMED), ...more].join(", ")
    return names.length === 0 ? [] : [leftOut(`the ${kind}${names.length === 1 ? "" : "s"} in ${named}`)]
  }
  const settings = parts.filter(({ kind }) => kind !== "agent" && kind !== "command" && kind !== "skill")
  return [
    ...settings.map((part) => leftOut(`${partText(part)} (${shortPath(part.source)})`)),
    ...filesOf("agent"),
    ...filesOf("command"),
    ...filesOf("skill"),
  ]
}

const FILES_NAMED = 10

const shortPath = (file: string): string => join(basename(dirname(file)), basename(file))
