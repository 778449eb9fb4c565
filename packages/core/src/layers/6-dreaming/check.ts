/**
 * The check after the model's part. It repairs by rule what a rule can repair, and refuses the rest. Run without changes, it finds what is
 * wrong with the memories as they are.
 */
import { INDEX_FILE } from "../../memory/file-names.ts"
import { isCurrent, type Memory } from "../../memory/memory.ts"
import { checkedIndex, checkLinks, type ProjectHas } from "./check-pointers.ts"
import { checkProvenance, share, wordsOf } from "./check-provenance.ts"
import { checkSupersession } from "./check-supersession.ts"
import { checkedMemories } from "./checked-memories.ts"

interface CheckInput {
  /** The texts before the dream: memories and the index. */
  readonly base: ReadonlyMap<string, string>
  readonly before: readonly Memory[]
  /** What the dream changed; `null` removes. */
  readonly changed: ReadonlyMap<string, string | null>
  readonly now: Date
  readonly projectHas: ProjectHas
}

export type Checked =
  | {
      readonly state: "clean"
      /** What to install; `null` removes. */
      readonly texts: ReadonlyMap<string, string | null>
      readonly after: readonly Memory[]
      /** What was repaired, one sentence each. */
      readonly repairs: readonly string[]
    }
  /** `why` is the end of a sentence. */
  | { readonly state: "refused"; readonly why: string }

export async function checkConsolidation(input: CheckInput): Promise<Checked> {
  const { base, before, now, projectHas } = input
  const today = now.toISOString().slice(0, "2026-01-01".length)
  const changed = new Map([...input.changed].filter(([file]) => file !== INDEX_FILE))
  const memories = await checkedMemories({ base, before, changed, today })
  const refusal = checkProvenance(memories, today)
  if (refusal) return { state: "refused", why: refusal }
  checkSupersession(memories)
  checkLinks(memories, projectHas)
  const texts = new Map(await memories.texts())
  const given = input.changed.get(INDEX_FILE)
  const listed = base.get(INDEX_FILE)
  const index = checkedIndex({ text: given ?? listed, before: listed, memories, projectHas })
  if (index !== (listed ?? "")) texts.set(INDEX_FILE, index)
  const repairs = [...memories.repairs, ...(isIndexRepaired(index, given ?? listed) ? [INDEX_REPAIRED] : [])]
  return { state: "clean", texts, after: [...memories.items.values()].map(({ memory }) => memory), repairs }
}

const INDEX_REPAIRED = `${INDEX_FILE}: its lines did not match the memories.`
const isIndexRepaired = (index: string, given: string | undefined): boolean => index.trim() !== (given ?? "").trim()

const MOST_LOST = 1 / 4
const GUTTED = 1 / 4 // of its words are left

interface Losses {
  readonly files: readonly string[]
  /** Memories in view before the dream. */
  readonly of: number
  readonly needsConsent: boolean
}

/**
 * How much a dream would take out of view. More than a quarter at once needs the person's consent. Every memory that leaves the index
 * counts, however alike the one is that takes its place, and so does one that a dream empties: "62 files became 3, all is well" must not
 * pass.
 */
export function lossesOf(before: readonly Memory[], after: readonly Memory[]): Losses {
  const now = new Map(after.map((memory) => [memory.file, memory]))
  const files = before.filter((memory) => isLost(memory, now.get(memory.file))).map(({ file }) => file)
  const of = before.filter(isCurrent).length
  return { files, of, needsConsent: files.length > of * MOST_LOST }
}

function isLost(memory: Memory, left: Memory | undefined): boolean {
  if (!left) return true
  if (!isCurrent(memory)) return false // it was out of view already
  const words = wordsOf(memory.body)
  return !isCurrent(left) || (words.size > 0 && share(words, wordsOf(left.body)) < GUTTED)
}
