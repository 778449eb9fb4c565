/**
 * Keeps the person's lasting rules at once, each as a memory of its own, without a model and at no cost. The next conversation has them
 * even if no extraction ever runs.
 */
import { findSecrets } from "../../base/secrets/find-secrets.ts"
import type { MemoryMode } from "../../base/vocabulary.ts"
import type { MemoryBank } from "../../memory/bank.ts"
import { fileNameFor } from "../../memory/file-names.ts"
import type { Memory } from "../../memory/memory.ts"
import { titleOf } from "../../memory/own-words.ts"
import { renderMemory } from "../../memory/topic-file.ts"
import { isAboutThePerson } from "../../views/record/about-the-person.ts"
import { lastingRules } from "../../views/record/lasting-rules.ts"
import type { Word } from "../../views/record/words.ts"
import type { LayerContext, Outcome } from "../layer.ts"
import { dayOf, nothingFound } from "./extraction.ts"
import { type ConfirmMemory, type Kept, keepProposals } from "./keep.ts"
import { type Evidence, isTyped } from "./provenance.ts"
import { reportOf } from "./report.ts"

export interface RuleKeeperOptions {
  readonly bank: MemoryBank
  readonly mode: Exclude<MemoryMode, "off">
  readonly confirm?: ConfirmMemory
  /** Texts that the person did not want to keep. Others are not to ask for them again. */
  readonly refused: string[]
}

export class RuleKeeper {
  readonly #options: RuleKeeperOptions
  /** How many of the person's messages were looked at. The journal may say less for a while. */
  #heard = 0

  constructor(options: RuleKeeperOptions) {
    this.#options = options
  }

  async afterQuery(context: LayerContext): Promise<Outcome | undefined> {
    const { views, conversation, now, signal } = context
    if (this.#options.mode === "read-only") return undefined
    const words = [...views.words.messages]
    const from = Math.max(this.#heard, views.memories.heardRules)
    const said = words.length
    this.#heard = said
    try {
      const { bank, mode, confirm, refused } = this.#options
      const kept = await keepRulesIn(words.slice(from), {
        ...{ bank, mode, refused, now, signal, evidence: { conversation, words, outside: [] } },
        ...(confirm ? { confirm } : {}),
      })
      return kept && keptRules(kept, said)
    } catch (error) {
      this.#heard = from
      return signal.aborted || error instanceof CommandRunning ? undefined : { drafts: [], failures: [error] }
    }
  }
}

export interface RulesToKeep extends RuleKeeperOptions {
  readonly evidence: Evidence
  readonly now: Date
  readonly signal: AbortSignal
}

/** Nothing where no lasting rule was typed. */
export async function keepRulesIn(words: readonly Word[], rulesToKeep: RulesToKeep): Promise<Kept | undefined> {
  const { now, ...keeping } = rulesToKeep
  const rules = new Set(words.filter(isTyped).flatMap(({ text }) => lastingRules(text)))
  if (rules.size === 0) return undefined
  if (await keeping.bank.isCommandRunning()) throw new CommandRunning() // what was said may not be the person's
  const proposals = await proposalsFor([...rules], await keeping.bank.all(), dayOf(now))
  return keepProposals(proposals, { ...keeping, today: dayOf(now) })
}

class CommandRunning extends Error {}

/** A file for each rule. What a memory says already is left out when they are kept. */
async function proposalsFor(rules: readonly string[], memories: readonly Memory[], today: string) {
  const texts = new Map<string, string>()
  for (const rule of rules) {
    if (findSecrets(rule).length > 0) continue
    const title = titleOf(rule)
    const file = fileNameFor(title.name, [...memories.map((memory) => memory.file), ...texts.keys()])
    const text = await renderMemory({
      ...{ file, ...title, body: rule, created: today, confirmed: today },
      type: isAboutThePerson(rule) ? "user" : "feedback",
      ...{ basis: "said", source: { saidBy: "user" } },
    })
    texts.set(file, text)
  }
  return nothingFound("done", { texts, base: new Map([...texts.keys()].map((file) => [file, null])) })
}

function keptRules(kept: Kept, said: number): Outcome {
  const written = kept.memories.map(({ file }) => file!)
  const facts = { said, written, ...(kept.change ? { change: kept.change.id } : {}) }
  return { drafts: [{ type: "strata", subtype: "memory-rules-kept", ...facts }], ...reportOf(kept) }
}
