/**
 * The person's own rules, each kept as a memory of its own, without a model and at no cost: a lasting rule or preference in what they type,
 * who they say they are, and what they ask to keep in so many words. So is what replaces a memory, or the outdated one would count as the
 * current one. The next conversation has them even if no extraction ever runs.
 */
import { setImmediate } from "node:timers/promises"
import { utcDay } from "../../../base/clock.ts"
import { StrataError } from "../../../base/errors.ts"
import { findSecrets } from "../../../base/secrets/find-secrets.ts"
import { type CooperativeTask, runCooperatively } from "../../../base/work.ts"
import { replacingSteps } from "../../../memory/changes/supersession.ts"
import { mayOutdate } from "../../../memory/facts/relation.ts"
import { fileNameFor } from "../../../memory/file-names.ts"
import type { Memory, MemoryDraft, MemorySource, MemoryType } from "../../../memory/memory.ts"
import { renderMemory } from "../../../memory/topic-file.ts"
import { titleFrom } from "../../../memory/user-quotes.ts"
import { factsAboutTheUser, isAboutTheUser } from "../../../views/record/about-the-person.ts"
import { lastingRules } from "../../../views/record/lasting-rules.ts"
import { isTyped, sentencesIn, typedLines, type Word } from "../../../views/record/user-messages.ts"
import type { Views } from "../../../views/views.ts"
import type { LayerContext, LayerResult } from "../../layer.ts"
import {
  describeSave,
  type MemoryWriter,
  type Proposal,
  type SaveResult,
  type SourceEvidence,
  saveProposals,
} from "./save.ts"

export class RuleWriter {
  readonly #keeper: MemoryWriter
  /** How many of the person's messages were looked at. The journal may say less for a while. */
  #heard = 0
  /** How many were read ahead. */
  #read = 0
  #isReading = false

  constructor(keeper: MemoryWriter) {
    this.#keeper = keeper
  }

  /** Reads what the person said while the model answers. What was read is remembered, so the end of the query finds it at once. */
  async readAhead({ views, signal }: Pick<LayerContext, "views" | "signal">): Promise<void> {
    if (this.#isReading || this.#keeper.mode === "read-only") return
    const from = Math.max(this.#read, this.#from(views))
    const fresh = views.words.messages.slice(from)
    this.#read = from + fresh.length
    if (fresh.length === 0) return
    this.#isReading = true
    await setImmediate()
    await runCooperatively(readTask(fresh), { signal, yieldsToOthers: true }).catch(() => undefined) // closed
    this.#isReading = false
  }

  #from({ memories }: Pick<Views, "memories">): number {
    return Math.max(this.#heard, memories.heardRules)
  }

  async afterQuery(context: LayerContext): Promise<LayerResult | undefined> {
    const { views, conversation, now, signal } = context
    if (this.#keeper.mode === "read-only") return undefined
    const words = [...views.words.messages]
    const from = this.#from(views)
    const count = words.length
    this.#heard = count
    try {
      const evidence = { conversation, words, outside: [] }
      const kept = await keepRulesIn(words.slice(from), { ...this.#keeper, now, signal, evidence })
      return kept && rulesResult(kept, count)
    } catch (error) {
      this.#heard = from
      return signal.aborted || error instanceof CommandRunningError ? undefined : { drafts: [], failures: [error] }
    }
  }
}

function* readTask(words: readonly Word[]): CooperativeTask<void> {
  for (const word of words) {
    if (isTyped(word)) lastingStatements(word.text)
    yield
  }
}

interface SaveRulesOptions extends MemoryWriter {
  readonly evidence: SourceEvidence
  readonly now: Date
  readonly signal: AbortSignal
}

/** How to work, and who they are. */
const lastingStatements = (text: string): readonly string[] => [...lastingRules(text), ...factsAboutTheUser(text)]

/** Nothing where nothing of that was typed. */
export async function keepRulesIn(words: readonly Word[], keeping: SaveRulesOptions): Promise<SaveResult | undefined> {
  const { bank, now } = keeping
  const typed = words.filter(isTyped)
  const rules = new Set(typed.flatMap(({ text }) => lastingStatements(text)))
  const others = typed.flatMap(({ text }) => sentencesIn(typedLines(text).join("\n"))).filter(mayOutdate)
  if (rules.size === 0 && others.length === 0) return undefined
  if (await bank.isCommandRunning()) throw new CommandRunningError() // what was said may not be the person's
  const memories = await bank.all()
  const news = others.filter((sentence) => !rules.has(sentence))
  const types = await runCooperatively(replacingSteps(news, memories))
  if (rules.size === 0 && types.size === 0) return undefined
  return saveProposals(await proposalFor([...rules, ...types.keys()], { memories, types, today: utcDay(now) }), keeping)
}

class CommandRunningError extends Error {}

interface ProposalFacts {
  readonly memories: readonly Memory[]
  /** Of sentences that replace a memory: its type. */
  readonly types: ReadonlyMap<string, MemoryType>
  readonly today: string
}

/** A file for each rule. What a memory says already is left out when they are kept. */
async function proposalFor(rules: readonly string[], { memories, types, today }: ProposalFacts): Promise<Proposal> {
  const texts = new Map<string, string>()
  for (const rule of rules) {
    if (findSecrets(rule).length > 0) continue
    const draft = { ...draftOf(rule, { saidBy: "user" }), ...(types.has(rule) ? { type: types.get(rule)! } : {}) }
    const file = fileNameFor(draft.name, [...memories.map((memory) => memory.file), ...texts.keys()])
    texts.set(file, await renderMemory({ ...draft, file, created: today, confirmed: today }))
  }
  return { texts, base: new Map([...texts.keys()].map((file) => [file, null])) }
}

function rulesResult(kept: SaveResult, examined: number): LayerResult {
  const written = kept.memories.map(({ file }) => file!)
  const facts = { said: examined, written, ...(kept.change ? { change: kept.change.id } : {}) }
  return { drafts: [{ type: "strata", subtype: "memory-rules-kept", ...facts }], ...describeSave(kept) }
}

/** What the person asks to keep, for example with a line that starts with `#` in the chat. */
export function rememberedDraft(text: string, source: MemorySource): MemoryDraft {
  const body = text.trim()
  if (body === "") throw notRemembered("the text is empty", "Write what to remember.")
  const [secret] = findSecrets(body)
  if (secret) {
    const advice = "Leave the secret out, and write where it is kept."
    throw notRemembered(`the text contains a secret (${secret.kind})`, advice)
  }
  return draftOf(body, source)
}

/** What the person asked to keep contains a secret, or nothing at all. */
export const notRemembered = (why: string, advice: string) =>
  new StrataError(`Nothing was saved: ${why}. ${advice}`, { code: "not-remembered" })

const draftOf = (rule: string, source: MemorySource) =>
  ({
    ...titleFrom(rule),
    type: isAboutTheUser(rule) ? "user" : "feedback",
    source,
    basis: "said",
    body: rule,
  }) as const satisfies MemoryDraft
