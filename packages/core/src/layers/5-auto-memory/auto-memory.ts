/**
 * Layer 5: preserves what was learned. At the end of a query a fork examines new messages and proposes memories. Before a request the layer
 * attaches the rules and preferences that always apply, and the few memories that match the user's message.
 *
 * `attach/` builds attachments. `extract/` decides when a fork is asked and reads its proposals. `save/` decides which of them become
 * memories, and their source.
 */
import { setImmediate } from "node:timers/promises"
import { utcDay } from "../../base/clock.ts"
import { errorReason, StrataError } from "../../base/errors.ts"
import { findSecrets } from "../../base/secrets/find-secrets.ts"
import { type CooperativeTask, runCooperatively } from "../../base/work.ts"
import type { DecisionDraft, EntryDraft } from "../../journal/entries.ts"
import { replacingSteps } from "../../memory/changes/supersession.ts"
import { mayOutdate } from "../../memory/facts/relation.ts"
import { fileNameFor } from "../../memory/file-names.ts"
import type { Memory, MemoryDraft, MemorySource, MemoryType } from "../../memory/memory.ts"
import { renderMemory } from "../../memory/topic-file.ts"
import { titleFrom } from "../../memory/user-quotes.ts"
import { renderAttachment } from "../../messages/attachment-texts.ts"
import type { Attachment, RecalledMemory } from "../../messages/attachments.ts"
import { type Block, isToolResult, resultBlocks, textOf } from "../../messages/blocks.ts"
import { contentOf, isRequest, type Message, type Uuid } from "../../messages/messages.ts"
import type { MemoryRecall } from "../../recall/memory-recall.ts"
import { factsAboutTheUser, isAboutTheUser } from "../../views/record/about-the-user.ts"
import { lastingRules } from "../../views/record/lasting-rules.ts"
import { isTyped, splitSentences, typedLines, type UserMessageText } from "../../views/record/user-messages.ts"
import type { Views } from "../../views/views.ts"
import type { Layer, LayerContext, LayerResult } from "../layer.ts"
import { MemoryInView, plain, recallFor } from "./attach/memory-in-view.ts"
import { standingMemory } from "./attach/standing-memory.ts"
import { ExtractionQueue, type MemoryExtractor } from "./extract/queue.ts"
import {
  describeSave,
  type MemoryWriter,
  type Proposal,
  type SaveResult,
  type SourceEvidence,
  saveProposals,
} from "./save/save.ts"

type AutoMemoryOptions = MemoryAttachOptions &
  Omit<MemoryExtractor, "budget" | "readUserMessages"> &
  Partial<MemoryExtractor>

interface MemoryAttachOptions {
  /**
   * Whether this is a project's memory or an agent's own. An agent maintains its own memory, so nothing is extracted for it. Default: the
   * project's.
   */
  readonly kind?: "project" | "agent"
  readonly recall: Pick<MemoryRecall<Memory>, "recall">
  /** Whether the agent has file tools for the directory, to write memories or only to read them. */
  readonly access: "write" | "read" | "none"
  /** Returns the names in a memory that the code no longer contains. Default: none. */
  readonly findMissingNames?: (memory: Memory) => Promise<readonly string[]>
}

export interface AutoMemory extends Layer {
  /** The running extraction, until it is in the journal. Never rejects. */
  running(): Promise<void> | undefined
  /** Attaches a memory that the user just had saved, with the next request. */
  attach(memory: Memory): void
}

export function autoMemory(options: AutoMemoryOptions): AutoMemory {
  const refused: string[] = []
  const rules = new RuleWriter({ ...options, refused })
  const { budget, readUserMessages } = options
  const extractions =
    budget && readUserMessages && new ExtractionQueue({ ...options, budget, readUserMessages, refused })
  const findMissingNames = async (memory: Memory) => (await options.findMissingNames?.(memory).catch(() => [])) ?? [] // a failed search proves nothing
  const saved: Memory[] = []
  let known = new WeakMap<LayerContext["views"], MemoryInView>() // an idle conversation unloads its views
  let lastProblem: string | undefined

  /** Forgets the lookup because it was not journaled. */
  const forget = () => {
    known = new WeakMap()
  }

  async function due(context: LayerContext): Promise<MemoryLookup> {
    const { views, flags, now } = context
    const estimate = (text: string) => Math.ceil(views.estimator.text(text))
    const last = known.get(views)
    const inView = last?.holdsFor(views) ? last : new MemoryInView(views)
    known.set(views, inView)
    const attachments: Attachment[] = []
    const about: Uuid[] = []
    const start = inView.isStarted ? {} : { start: true as const }
    const shows = (text: string) => views.context.rawMessages.some((message) => isShownIn(message, text))
    const attach = (attachment: Attachment) => {
      attachments.push(attachment)
      inView.add(attachment)
    }
    if (!inView.isStarted) {
      const standing = await standingMemory({
        ...options,
        findMissingNames,
        now,
        limit: flags.figures["memory-start"],
        estimate,
      })
      inView.isStarted = true
      if (standing) attach(standing)
    }
    for (const memory of saved.splice(0)) if (!inView.files.has(memory.file)) attach(justSaved(memory))
    for (const message of views.context.sinceResponse().filter(isRequest)) {
      if (inView.looked.has(message.uuid)) continue
      inView.looked.add(message.uuid)
      about.push(message.uuid)
      const found = await recallFor({
        ...{ recall: options.recall, conversation: context.conversation, message, inView, now, estimate, shows },
        userMessages: views.words.messages,
        limit: flags.figures["memory-recall-files"],
        maxTokens: flags.figures["memory-recall-limit"],
        findMissingNames,
      })
      for (const attachment of found) attach(attachment)
    }
    return { attachments, about, ...start }
  }

  return {
    name: "auto-memory",
    running: () => extractions?.running,
    attach: (memory) => void saved.push(memory),

    async beforeRequest(context) {
      // nothing may follow a turn that the server has paused
      if (!context.flags.on["memory-recall"] || !context.views.context.endsWithUser) return undefined
      try {
        const outcome = attachResult(await due(context))
        lastProblem = undefined
        return outcome && { ...outcome, lost: forget }
      } catch (error) {
        // a directory that cannot be read is reported once, not with every request
        const reason = errorReason(error)
        const isNews = reason !== lastProblem
        lastProblem = reason
        return isNews ? { drafts: [], failures: [error] } : undefined
      }
    },

    whileAnswered(context) {
      if (options.kind !== "agent" && context.flags.on["auto-memory"]) void rules.readAhead(context)
    },

    async afterQuery(context) {
      if (options.kind === "agent") return undefined
      if (!context.flags.on["auto-memory"]) return undefined
      // first, so that an extraction knows what is saved
      const saved = await rules.afterQuery(context)
      return mergeResults(saved, await extractions?.afterQuery(context))
    },
  }
}

/** Whether a message contains a text, ignoring repeated spaces. Most messages lack its longest word: only the others are normalized. */
function isShownIn(message: Message, text: string): boolean {
  const shown = textIn(message)
  return shown.includes(longestWord(text)) && plain(shown).includes(text)
}

const longestWord = (text: string) =>
  text.split(" ").reduce((longest, word) => (word.length > longest.length ? word : longest), "")

/** The visible text of a message: text, results of tools, attached files. */
function textIn(message: Message): string {
  if (message.type === "attachment")
    return renderAttachment(message.attachment)
      .map(({ text }) => text)
      .join("\n")
  if (message.type !== "user" && message.type !== "assistant") return ""
  return contentOf(message)
    .map((block) => (isToolResult(block) ? textOf(resultBlocks(block) as readonly Block[]) : textOf([block])))
    .join("\n")
}

/** The attachments, and the messages for which memory was searched. */
interface MemoryLookup {
  readonly attachments: readonly Attachment[]
  readonly about: readonly Uuid[]
  readonly start?: true
}

/** The decision comes last: going back to a message before the attachments undoes both. */
function attachResult({ attachments, ...looked }: MemoryLookup): LayerResult | undefined {
  const isLooked = looked.about.length > 0 || looked.start
  if (attachments.length === 0 && !isLooked) return undefined
  const decision: DecisionDraft = { type: "strata", subtype: "memory-looked-up", ...looked }
  const drafts: EntryDraft[] = attachments.map((attachment) => ({ type: "attachment", attachment }))
  if (isLooked) drafts.push(decision)
  if (attachments.length === 0) return { drafts }
  const recalled = attachments.filter((attachment) => attachment.type === "memory")
  return {
    drafts,
    counts: { "memories.recalled": recalled.length },
    ...(recalled.length === 0 ? {} : { message: `Recalled: ${recalledNames(recalled).join(", ")}.` }),
  }
}

/** Names memories by their file. Passages have an address that only Strata can read, so they are counted. */
function recalledNames(recalled: readonly RecalledMemory[]): readonly string[] {
  const files = recalled.filter(({ from }) => from !== "conversation").map(({ path }) => path)
  const passages = recalled.length - files.length
  if (passages === 0) return files
  return [
    ...files,
    passages === 1 ? "a passage of an earlier conversation" : `${passages} passages of earlier conversations`,
  ]
}

const justSaved = ({ file, body }: Memory): Attachment => ({
  type: "memory",
  path: file,
  content: body,
  age: "today",
  source: "the user had it saved just now",
})

/** Merges two results of one query. */
function mergeResults(first: LayerResult | undefined, second: LayerResult | undefined): LayerResult | undefined {
  if (!first || !second) return first ?? second
  const messages = [first.message, second.message].filter((message) => typeof message === "string")
  const counts = { ...first.counts }
  for (const [name, count] of Object.entries(second.counts ?? {})) counts[name] = (counts[name] ?? 0) + count
  return {
    ...second,
    drafts: [...first.drafts, ...second.drafts],
    ...(messages.length > 0 ? { message: messages.join(" ") } : {}),
    counts,
    failures: [...(first.failures ?? []), ...(second.failures ?? [])],
  }
}

// Saves the user's own rules, each as a memory, without a model and at no cost: lasting rules and preferences, facts about the user,
// explicit requests to remember something, and statements that replace a memory, so that the outdated one is not treated as current. The
// next conversation has them even if no extraction ever runs.

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
