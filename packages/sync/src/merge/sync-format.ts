/**
 * Encodes synced memories as files and decodes them: `memories/` for reading, `history/` and `texts/` for earlier versions, `state.json`
 * for sources and tombstones. Remote files are not trusted: names, sizes and shapes are checked, and invalid ones are skipped with a
 * sentence.
 */

import type { MemorySource as Provenance } from "@strata/core/memory"
import { hashOf, isTopicFile, MAX_MEMORY_BYTES, MEMORY_SPEAKERS } from "@strata/core/memory-files"
import { isMemoryPath } from "@strata/core/store"
import * as z from "zod/v4"
import { copiesIn, identityOf, type SyncedChange, type SyncedFile, type SyncedMemories } from "./synced-memories.ts"

const FORMAT = 1
const STATE = "state.json"
const [MEMORIES, HISTORY, TEXTS] = ["memories/", "history/", "texts/"] as const

const HASH = z.string().regex(/^[0-9a-f]{64}$/)
const KEY = z.string().regex(/^[0-9a-f]{32}$/)
const TIME = z
  .string()
  .max(40)
  .refine((time) => !Number.isNaN(Date.parse(time)))
const PATH = z.string().refine((path) => isMemoryPath(path) && isTopicFile(path))
const SHORT = z.string().max(1_000)

const SOURCE = z.object({
  saidBy: z.enum(MEMORY_SPEAKERS),
  conversation: SHORT.optional(),
  message: SHORT.optional(),
  outside: SHORT.optional(),
  confirmed: z.literal(true).optional(),
})

const STATE_SHAPE = z.object({
  format: z.literal(FORMAT),
  files: z.record(PATH, z.object({ created: TIME, source: SOURCE })),
  erased: z.record(KEY, z.object({ texts: z.array(HASH).max(100_000) })),
})

const CHANGE = z.object({
  at: TIME,
  by: z.enum(["person", "agent", "extraction", "dream", "merge", "outside"]),
  why: z.string().max(10_000),
  files: z
    .array(z.object({ path: PATH, before: HASH.optional(), after: HASH.optional(), source: SOURCE.optional() }))
    .min(1), // no upper bound: a copied folder is one change
})

/** Encodes memories as texts by path. The same memories always give the same bytes. */
export function encodeMemories({ files, changes, texts, erased }: SyncedMemories): ReadonlyMap<string, string> {
  const sorted = <T>(map: ReadonlyMap<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))
  const facts = sorted(files).map(([path, { created, source }]) => [path, { created, source: ordered(source) }])
  const state = { format: FORMAT, files: Object.fromEntries(facts), erased: Object.fromEntries(sorted(erased)) }
  return new Map([
    [STATE, `${JSON.stringify(state, undefined, 1)}\n`],
    ...sorted(files).map(([path, { text }]): [string, string] => [`${MEMORIES}${path}`, text]),
    ...sorted(changes).map(([id, change]): [string, string] => [`${HISTORY}${id}.json`, `${JSON.stringify(change)}\n`]),
    ...sorted(texts).map(([copy, text]): [string, string] => [`${TEXTS}${copy}.md`, text]),
  ])
}

/** Puts the keys in a fixed order, so that all machines write the same bytes. */
const ordered = ({ saidBy, conversation, message, outside, confirmed }: Provenance): Provenance => ({
  saidBy,
  ...(conversation === undefined ? {} : { conversation }),
  ...(message === undefined ? {} : { message }),
  ...(outside === undefined ? {} : { outside }),
  ...(confirmed ? { confirmed } : {}),
})

export type DecodedMemories =
  | { readonly state: "read"; readonly memories: SyncedMemories; readonly problems: readonly string[] }
  /** `why` is the end of a sentence. */
  | { readonly state: "unusable"; readonly why: string }

/** Decodes files by path. A file is `undefined` if it is not text or too large. */
export function decodeMemories(given: ReadonlyMap<string, string | undefined>): DecodedMemories {
  const state = parsed(STATE_SHAPE, given.get(STATE))
  if (state === undefined)
    return { state: "unusable", why: "its state.json is damaged, or a newer version of Strata wrote it" }
  const problems: string[] = []
  const [files, texts] = [new Map<string, SyncedFile>(), new Map<string, string>()]
  const changes = new Map<string, SyncedChange>()
  const folded = new Set<string>()
  for (const [name, text] of given) {
    if (name.startsWith(MEMORIES)) {
      const path = name.slice(MEMORIES.length)
      const facts = Object.hasOwn(state.files, path) ? state.files[path] : undefined
      const isTwin = folded.has(path.toLowerCase())
      folded.add(path.toLowerCase())
      if (facts === undefined || isTwin || !isText(text)) problems.push(`${path} was skipped: ${WRONG_MEMORY}.`)
      else files.set(path, { text, created: facts.created, source: ordered(facts.source as Provenance) })
    } else if (name.startsWith(TEXTS)) {
      const copy = name.slice(TEXTS.length, -".md".length)
      if (isText(text) && hashOf(text) === copy) texts.set(copy, text)
    } else if (name.startsWith(HISTORY)) {
      const change = parsed(CHANGE, text) as SyncedChange | undefined
      if (change && `${HISTORY}${identityOf(change)}.json` === name) changes.set(identityOf(change), change)
      else problems.push(`${name} was skipped: it is damaged.`)
    }
  }
  for (const [id, change] of changes) if (!copiesIn(change).every((copy) => texts.has(copy))) changes.delete(id)
  return { state: "read", problems, memories: { files, changes, texts, erased: new Map(Object.entries(state.erased)) } }
}

const WRONG_MEMORY = "it is too large, is not text, has an invalid name, or its source is unknown"

const isText = (text: string | undefined): text is string =>
  text !== undefined && Buffer.byteLength(text) <= MAX_MEMORY_BYTES && text.isWellFormed()

function parsed<T>(shape: z.ZodType<T>, text: string | undefined): T | undefined {
  try {
    return shape.safeParse(JSON.parse(text ?? "")).data
  } catch {
    return undefined
  }
}
