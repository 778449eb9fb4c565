/** A dream's change that waits for the person's consent. It is kept with the texts it started from, so it can be installed days later. */
import { rm } from "node:fs/promises"
import { maskSecrets } from "../../base/secrets/find-secrets.ts"
import type { MemoryText } from "../../memory/memory.ts"
import { type DreamPlaces, readJson, writeWhole } from "./dream-places.ts"

export interface DreamProposal {
  readonly why: string
  readonly puts: readonly MemoryText[]
  readonly removals: readonly string[]
  /** The texts that it started from; `null` if there was no file. */
  readonly base: ReadonlyMap<string, string | null>
}

/** A change to the memories that waits for consent. */
export interface PendingDream extends DreamProposal {
  readonly id: string
  readonly at: string
  /** Why a person must decide, as a sentence. */
  readonly reason: string
  /** Memories that would go out of view. */
  readonly lost: readonly string[]
}

interface Stored extends Omit<PendingDream, "base"> {
  readonly base: readonly (readonly [string, string | null])[]
}

export async function keepPending(places: DreamPlaces, pending: PendingDream): Promise<void> {
  const puts = pending.puts.map((put) => ({ ...put, text: maskSecrets(put.text) }))
  const base = [...pending.base].map(([file, text]) => [file, text && maskSecrets(text)] as const)
  const stored: Stored = { ...pending, why: maskSecrets(pending.why), puts, base }
  await writeWhole(places.pending, `${JSON.stringify(stored, undefined, 1)}\n`)
}

export async function readPending(places: DreamPlaces): Promise<PendingDream | undefined> {
  const stored = await readJson<Stored>(places.pending)
  if (!Array.isArray(stored?.puts) || !Array.isArray(stored.base)) return undefined
  return { ...stored, base: new Map(stored.base) }
}

export const dropPending = (places: DreamPlaces): Promise<void> => rm(places.pending, { force: true })

/** With the texts as they are now, where only a mask makes the difference: an install compares them byte for byte. */
export async function withCurrentBase(
  pending: PendingDream,
  textOf: (file: string) => Promise<string | undefined>,
): Promise<PendingDream> {
  const base = new Map<string, string | null>()
  for (const [file, text] of pending.base) {
    const current = text === null ? undefined : await textOf(file)
    base.set(file, current !== undefined && maskSecrets(current) === text ? current : text)
  }
  return { ...pending, base }
}

/** What it would change, as a unified diff. */
export async function diffOf({ puts, removals, base }: DreamProposal): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff")
  const changes = [...puts, ...removals.map((file) => ({ file, text: undefined }))]
  return changes
    .sort((a, b) => (a.file < b.file ? -1 : 1))
    .map(({ file, text }) => {
      const before = base.get(file) ?? undefined
      const [from, to] = [
        before === undefined ? "/dev/null" : `a/${file}`,
        text === undefined ? "/dev/null" : `b/${file}`,
      ]
      const headers = { headerOptions: FILE_HEADERS_ONLY }
      return createTwoFilesPatch(from, to, maskSecrets(before ?? ""), text ?? "", undefined, undefined, headers)
    })
    .join("")
}
