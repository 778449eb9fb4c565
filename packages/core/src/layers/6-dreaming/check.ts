/**
 * The check after the model's part. It repairs by rule what a rule can repair, and refuses the rest. Run without changes, it finds what is
 * wrong with the memories as they are.
 */
import { INDEX_FILE } from "../../memory/file-names.ts"
import type { Memory } from "../../memory/memory.ts"
import { checkedIndex, checkLinks, type ProjectHas } from "./check-pointers.ts"
import { checkProvenance } from "./check-provenance.ts"
import { checkSupersession } from "./check-supersession.ts"
import { checkedMemories } from "./checked-memories.ts"

export interface CheckInput {
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
