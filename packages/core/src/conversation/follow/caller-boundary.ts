/** The boundary that a caller drew: it sends a list that begins with its own summary. Our record follows that summary, once. */
import { inSlices } from "../../base/in-slices.ts"
import type { Draft, MessageDraft } from "../../journal/entries.ts"
import { compactionFigures } from "../../layers/4-compaction/figures.ts"
import { factSteps } from "../../layers/4-compaction/restore/facts.ts"
import { BOUNDARY_LINE } from "../../messages/messages.ts"
import type { Engine } from "../engine.ts"

const SHARE = 0.5 // of what follows a summary of ours: the caller has written one of its own, and pays for both

/** `isSummary`: the list goes on with the same work. Otherwise it has nothing to do with what was before. */
export async function callerBoundary(
  engine: Engine,
  { drafts, isSummary }: { readonly drafts: readonly MessageDraft[]; readonly isSummary: boolean },
): Promise<readonly Draft[]> {
  const { context } = engine.views
  const facts = isSummary ? await factsOf(engine) : ""
  const [first, ...others] = drafts
  const boundary: MessageDraft = {
    ...BOUNDARY_LINE,
    compactMetadata: { trigger: "auto", preTokens: context.size().tokens, byCaller: true },
  }
  const record: readonly MessageDraft[] =
    facts === "" ? [] : [{ type: "attachment", attachment: { type: "carried_facts", content: facts } }]
  const summary = isSummary && first?.type === "user" ? { ...first, isCompactSummary: true } : first
  return [boundary, ...(summary ? [summary] : []), ...record, ...others]
}

async function factsOf({ views, window, parts, canRecall }: Engine): Promise<string> {
  const flags = parts.flags.current
  if (!flags.on["compact-facts"]) return ""
  const { facts } = compactionFigures({ flags, thresholds: window.current })
  // results are listed by their handles: without a tool for those, the caller's own summary has to do
  const options = { budget: Math.floor(facts * SHARE), hasRecall: canRecall }
  return inSlices(factSteps(views, { estimate: (text) => views.estimator.text(text), ...options }))
}
