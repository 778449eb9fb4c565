/**
 * Saves the user's own rules, each as a memory, without a model and at no cost: lasting rules and preferences, facts about the user,
 * explicit requests to remember something, and statements that replace a memory, so that the outdated one is not treated as current. The
 * next conversation has them even if no extraction ever runs.
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
import { factsAboutTheUser, isAboutTheUser } from "../../../views/record/about-the-user.ts"
import { lastingRules } from "../../../views/record/lasting-rules.ts"
import { isTyped, splitSentences, typedLines, type UserMessageText } from "../../../views/record/user-messages.ts"
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
  /** Number of user messages that were examined. The journal may lag behind. */
  #examined = 0
  /** Number of user messages that were read ahead. */
  #read = 0
  #isReading = false

  constructor(keeper: MemoryWriter) {
    this.#keeper = keeper
  }

  /** Analyzes the user's messages while the model answers. The results are cached, so that the end of the query is fast. */
  async readAhead({ views, signal }: Pick<LayerContext, "views" | "signal">): Promise<void> {
    if (this.#isReading || this.#keeper.mode === "read-only") return
    const from = Math.max(this.#read, this.#from(views))
    const newMessages = views.words.messages.slice(from)
    this.#read = from + newMessages.length
    if (newMessages.length === 0) return
    this.#isReading = true
    await setImmediate()
    await runCooperatively(readTask(newMessages), { signal, yieldsToOthers: true }).catch(() => undefined) // fails only if the conversation closed
    this.#isReading = false
  }

  #from({ memories }: Pick<Views, "memories">): number {
    return Math.max(this.#examined, memories.heardRules)
  }

  async afterQuery(context: LayerContext): Promise<LayerResult | undefined> {
    const { views, conversation, now, signal } = context
    if (this.#keeper.mode === "read-only") return undefined
    const words = [...views.words.messages]
    const from = this.#from(views)
    const count = words.length
    this.#examined = count
    try {
      const evidence = { conversation, words, outside: [] }
      const saved = await saveUserRules(words.slice(from), { ...this.#keeper, now, signal, evidence })
      return saved && rulesResult(saved, count)
    } catch (error) {
      this.#examined = from
      return signal.aborted || error instanceof CommandRunningError ? undefined : { drafts: [], failures: [error] }
    }
  }
}

function* readTask(words: readonly UserMessageText[]): CooperativeTask<void> {
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

/** Statements about how to work and about the user. */
const lastingStatements = (text: string): readonly string[] => [...lastingRules(text), ...factsAboutTheUser(text)]

/** Saves rules. Returns `undefined` if the messages contain none. */
export async function saveUserRules(
  words: readonly UserMessageText[],
  keeping: SaveRulesOptions,
): Promise<SaveResult | undefined> {
  const { bank, now } = keeping
  const typed = words.filter(isTyped)
  const rules = new Set(typed.flatMap(({ text }) => lastingStatements(text)))
  const others = typed.flatMap(({ text }) => splitSentences(typedLines(text).join("\n"))).filter(mayOutdate)
  if (rules.size === 0 && others.length === 0) return undefined
  if (await bank.isCommandRunning()) throw new CommandRunningError() // a command might have typed this text instead of the user
  const memories = await bank.all()
  const news = others.filter((sentence) => !rules.has(sentence))
  const types = await runCooperatively(replacingSteps(news, memories))
  if (rules.size === 0 && types.size === 0) return undefined
  return saveProposals(await proposalFor([...rules, ...types.keys()], { memories, types, today: utcDay(now) }), keeping)
}

class CommandRunningError extends Error {}

interface ProposalFacts {
  readonly memories: readonly Memory[]
  /** By sentence that replaces a memory: the type of that memory. */
  readonly types: ReadonlyMap<string, MemoryType>
  readonly today: string
}

/** Proposes a file for each rule. Duplicates of existing memories are dropped when they are saved. */
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

function rulesResult(saved: SaveResult, examined: number): LayerResult {
  const written = saved.memories.map(({ file }) => file!)
  const facts = { said: examined, written, ...(saved.change ? { change: saved.change.id } : {}) }
  return { drafts: [{ type: "strata", subtype: "memory-rules-kept", ...facts }], ...describeSave(saved) }
}

/** A memory that the user explicitly asked to save, for example with a line that starts with `#` in the chat. */
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

/** Error for a request to remember a secret or an empty text. */
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
