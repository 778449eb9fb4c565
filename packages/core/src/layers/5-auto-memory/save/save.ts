/**
 * Installs proposed memories as one change of the bank: each memory gets its source from the conversation, rules that only a tool asked for
 * are omitted, and each write is shown first if the user wants to be asked.
 */
import { utcDay } from "../../../base/clock.ts"
import type { MemoryMode } from "../../../base/enums.ts"
import { errorMessage } from "../../../base/errors.ts"
import { searchTerms } from "../../../base/search-terms.ts"
import { KeyedQueues, unlessInterrupted } from "../../../base/work.ts"
import type { MemoryBank } from "../../../memory/bank.ts"
import { compareMemories, isChange } from "../../../memory/facts/relation.ts"
import { fileNameFor } from "../../../memory/file-names.ts"
import { lessTrusted, refusalReason, ruleChangeViolation } from "../../../memory/instruction-guard.ts"
import {
  isCurrentMemory,
  isUserMemory,
  type Memory,
  type MemoryChange,
  type MemoryDraft,
  type MemorySource,
} from "../../../memory/memory.ts"
import { parseMemory } from "../../../memory/topic-file.ts"
import {
  isComposedOf,
  parseStatements,
  toStatement,
  userWording,
  withoutRemarks,
  withUserTitle,
} from "../../../memory/user-quotes.ts"
import type { AttachmentKind } from "../../../messages/attachments.ts"
import { type Block, inline, isToolResult, isToolUse, resultBlocks, textOf } from "../../../messages/blocks.ts"
import { contentOf, type Message } from "../../../messages/messages.ts"
import { factsAboutTheUser } from "../../../views/record/about-the-user.ts"
import { lastingRules } from "../../../views/record/lasting-rules.ts"
import { isTyped, typedLines, type UserMessageText } from "../../../views/record/user-messages.ts"
import type { LayerResult } from "../../layer.ts"

// Determines the source of a memory: the user, a tool, or the agent. The text decides, not what the model claims. A memory counts as the
// user's only if it consists of sentences that the user typed. Everything else is an unconfirmed note of the agent.

export interface SourceEvidence {
  readonly conversation: string
  /** All messages of the user in the conversation. */
  readonly words: readonly UserMessageFrom[]
  /** External texts that are in view. */
  readonly outside: readonly OutsideText[]
}

/** `conversation`: set if the message comes from another conversation. */
export type UserMessageFrom = UserMessageText & { readonly conversation?: string }

interface OutsideText {
  /** Origin, such as `Read README.md`. */
  readonly from: string
  readonly text: string
}

/** Minimum shares of a memory's terms for a likely source. A memory is shortened and rephrased, so it never has all. */
const USER_SHARE = 0.4
const TOOL_SHARE = 0.5
const MAX_NAMED = 3 // places outside
const MAX_NAME_CHARACTERS = 60

/** The source of a memory. `before`: the earlier version, whose user sentences count like current ones. */
export function sourceOf(memory: Memory, evidence: SourceEvidence, before?: Memory): MemorySource {
  const { conversation } = evidence
  const earlier = before && isUserMemory(before) ? before : undefined
  if (earlier && isUnchanged(memory, earlier)) return earlier.source
  const stated = messageStating(memory, evidence, earlier)
  if (stated) return { saidBy: "user", conversation: stated.conversation ?? conversation, message: stated.uuid }
  const { isFromTool, outside } = outsideOf(memory, evidence, before)
  return { saidBy: isFromTool ? "tool" : "agent", conversation, ...(outside === "" ? {} : { outside }) }
}

/** Whether the memory still consists of exactly the same sentences. */
function isUnchanged({ body }: Memory, earlier: Memory): boolean {
  const [now, had] = [earlier.source.message === undefined ? body : withoutRemarks(body), userWording(earlier)]
  return now === had || (isComposedOf(now, parseStatements(had)) && isComposedOf(had, parseStatements(now)))
}

/** The user's newest message that the rule requires, if all its sentences are the user's. */
function messageStating(
  { body }: Memory,
  { words }: SourceEvidence,
  earlier: Memory | undefined,
): UserMessageFrom | undefined {
  let statements = earlier ? parseStatements(userWording(earlier)) : []
  const rule = withoutRemarks(body)
  if (isComposedOf(rule, statements)) return undefined // some of the user's sentences were removed, and none were added
  for (const word of words.filter(isTyped)) {
    statements = [...statements, ...parseStatements(typedLines(word.text).join("\n")), ...clausesFor(word.text)]
    if (isComposedOf(rule, statements)) return word
  }
  return undefined
}

/** Clauses with a rule or a fact, which can precede a question in the same sentence or be phrased politely. */
const clausesFor = (text: string) => [...lastingRules(text), ...factsAboutTheUser(text)].map(toStatement)

/** The external text that is most similar to the memory, and whether the memory only repeats it. */
function outsideOf(memory: Memory, { words, outside }: SourceEvidence, before: Memory | undefined) {
  const own = new Set(before ? stemsOf(before) : [])
  const terms = [...stemsOf(memory)].filter((stem) => !own.has(stem))
  const share = (stems: ReadonlySet<string>) =>
    terms.length === 0 ? 0 : terms.filter((stem) => stems.has(stem)).length / terms.length
  const byUser = share(new Set(words.flatMap(({ text }) => [...stemsIn(text)])))
  const shares = outside
    .map(({ from, text }) => ({ from, share: share(stemsIn(text)) }))
    .sort((a, b) => b.share - a.share)
  const byTools = shares[0]?.share ?? 0
  const isFromUser = byUser >= USER_SHARE && byUser >= byTools
  const named = [...new Set(shares.map(({ from }) => inline(from).slice(0, MAX_NAME_CHARACTERS)))]
  const more = named.length - MAX_NAMED
  return {
    isFromTool: !isFromUser && byTools >= TOOL_SHARE,
    outside: [...named.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(", "),
  }
}

/** Tools whose results contain nothing external: they describe the agent's action or the user's answer. */
const INTERNAL_TOOLS: ReadonlySet<string> = new Set([
  "Write",
  "Edit",
  "NotebookEdit",
  "TodoWrite",
  "AskUser",
  "ExitPlanMode",
  "KillShell",
])

/** External texts in these messages: results of tools, attached files and the like. */
export function outsideIn(messages: readonly Message[]): readonly OutsideText[] {
  const calls = new Map<string, string>()
  return messages.flatMap((message): readonly OutsideText[] => {
    if (message.type === "attachment") return attached(message.attachment)
    if (message.type !== "user" && message.type !== "assistant") return []
    const found: OutsideText[] = []
    for (const block of contentOf(message)) {
      if (isToolUse(block)) calls.set(block.id, callOf(block))
      if (!isToolResult(block)) continue
      const from = calls.get(block.tool_use_id) ?? "a tool"
      const { content } = block
      const text = typeof content === "string" ? content : textOf(resultBlocks(block) as readonly Block[])
      if (!INTERNAL_TOOLS.has(from.split(" ")[0]!)) found.push({ from, text })
    }
    if (message.type === "user" && message.isCompactSummary)
      found.push({ from: "a summary of earlier messages", text: textOf(contentOf(message)) })
    return found
  })
}

function callOf({ name, input }: Extract<Block, { type: "tool_use" }>): string {
  const { file_path, url, path, pattern, command } = (input ?? {}) as Readonly<Record<string, unknown>>
  const about = [file_path, url, path, command, pattern].find((value) => typeof value === "string")
  return about === undefined ? name : `${name} ${about}`
}

/** Text of attachments whose content the user did not write. */
function attached(attachment: Extract<Message, { type: "attachment" }>["attachment"]): readonly OutsideText[] {
  const name = FROM[attachment.type]
  if (name === undefined) return []
  const { content, instructions, text, path, command } = attachment as Readonly<Record<string, unknown>>
  const about = [path, command].find((value) => typeof value === "string")
  const outside = [content, instructions, text].find((value) => typeof value === "string") as string | undefined
  return outside === undefined ? [] : [{ from: about === undefined ? name : `${name} ${about}`, text: outside }]
}

const FROM: Partial<Record<AttachmentKind, string>> = {
  file: "file",
  skill_content: "a skill",
  editor_selection: "selection in",
  person_command: "output of",
  command_output: "output of",
  mcp_instructions: "an MCP server",
  mcp_prompt: "an MCP server",
  nested_memory: "instructions",
  queued_agent_message: "another agent",
  agent_result: "another agent",
  hook_output: "a hook",
  foreign: "another program",
}

const stemsOf = ({ name, description, body }: Memory): ReadonlySet<string> =>
  stemsIn(`${name}\n${description}\n${body.replace(FRAME, " ")}`)

/** The fixed headings of a feedback memory, which say nothing about its source. */
const FRAME = /\*\*(?:Why|How to apply):\*\*/gi

const stemsIn = (text: string): ReadonlySet<string> => new Set(searchTerms(text).map(({ stem }) => stem))

const NAMED = 3 // memories in a report

/** A write that the user decides about. */
interface ProposedMemory {
  readonly file: string
  readonly name: string
  /** The current text of the file, if it exists. */
  readonly before: string | undefined
  readonly after: string
}

/** Shows a write to the user and asks for confirmation. */
export type ConfirmMemory = (proposed: ProposedMemory) => Promise<boolean>

/** Proposed memories. A proposal changes nothing. */
export interface Proposal {
  /** Complete texts by file name. */
  readonly texts: ReadonlyMap<string, string>
  /** Texts of those files when the proposal was made; `null` if a file did not exist. */
  readonly base: ReadonlyMap<string, string | null>
}

/** Destination of memories, and how the user is asked. */
export interface MemoryWriter {
  readonly bank: MemoryBank
  readonly mode: Exclude<MemoryMode, "off">
  /** Shows a write and asks, in the mode `ask`. Absent if nobody can be asked. */
  readonly confirm?: ConfirmMemory
  /** Texts that the user refused to save. They are not proposed again; new refusals are added. */
  readonly refused?: string[]
}

interface SaveOptions extends MemoryWriter {
  readonly evidence: SourceEvidence
  readonly now: Date
  /** Aborted when a pending question to the user should no longer be awaited. */
  readonly signal: AbortSignal
}

export interface SaveResult {
  readonly change: MemoryChange | undefined
  /** The memories that were written. */
  readonly memories: readonly MemoryDraft[]
  /** Sentences about memories that were not saved. */
  readonly omitted: readonly string[]
}

const writes = new KeyedQueues<MemoryBank>()

/** Saves proposals serially, each on top of the previous one, so that an extraction sees rules that were just saved. */
export function saveProposals(proposal: Proposal, keeping: SaveOptions): Promise<SaveResult> {
  const { bank } = keeping
  return writes.run(bank, async () => saveProposal(proposal, keeping, await bank.all()))
}

async function saveProposal(
  { texts, base }: Proposal,
  keeping: SaveOptions,
  memories: readonly Memory[],
): Promise<SaveResult> {
  const omitted: string[] = []
  const saved: MemoryDraft[] = []
  for (const [file, text] of texts) {
    if (base.get(file) === text) continue
    const checked = await validateMailboxDraft({ file, text }, { ...keeping, memories })
    if (typeof checked === "string") omitted.push(checked)
    else if (checked && (await isConfirmed({ file, text, draft: checked, base }, keeping, omitted)))
      saved.push(keeping.mode === "ask" ? asConfirmed(checked) : checked)
  }
  if (saved.length === 0) return { change: undefined, memories: [], omitted }
  const puts = withoutOutdated(saved, memories.filter(isCurrentOf(keeping.evidence)))
  const why = `Learned in conversation ${keeping.evidence.conversation}`
  const change = await keeping.bank.change({ by: "extraction", why, puts, base: onlyOf(base, puts) })
  const written = new Set(change?.files.map(({ path }) => path))
  return { change, memories: puts.filter((memory) => written.has(memory.file!)), omitted }
}

/** The memory with its source, or the reason why it is omitted. `undefined` if the file already has the same content. */
async function validateMailboxDraft(
  { file, text }: { readonly file: string; readonly text: string },
  { evidence, memories, now, refused = [] }: SaveOptions & { readonly memories: readonly Memory[] },
): Promise<MemoryDraft | string | undefined> {
  const today = utcDay(now)
  const before = memories.find((memory) => memory.file === file)
  const facts = { created: before?.created ?? today, source: before?.source ?? ({ saidBy: "agent" } as const) }
  const claimed = await parseMemory({ file, text, facts })
  if (claimed.body.trim() === "") return `${file} has no text`
  if (isComposedOf(withoutRemarks(claimed.body), refused.flatMap(parseStatements))) return undefined
  if (before && isSame(before, claimed)) return undefined
  const computed = sourceOf(claimed, evidence, before)
  // content from a tool keeps its source; the user's own words make it the user's
  const source = before && !isUserMemory({ source: computed }) ? lessTrusted(computed, before.source) : computed
  if (!before && isUserMemory({ source }) && isKnown(claimed, memories)) return undefined
  const why = refusalReason({ ...claimed, source })
  if (why !== undefined) return `${file}: ${why}`
  const memory = withUserTitle(await parseMemory({ file, text, facts: { ...facts, source } }), before)
  const { name, description, type, basis, body, failed, supersedes } = memory
  // the user's rule stays unchanged, and the note is saved in a separate file
  const isSeparate = ruleChangeViolation(before, memory) !== undefined
  const fileName = isSeparate
    ? fileNameFor(
        name,
        memories.map((one) => one.file),
      )
    : file
  return {
    ...{ file: fileName, name, description, type, body, source, basis, confirmed: today },
    ...(failed ? { failed } : {}),
    ...(supersedes ? { supersedes } : {}),
  }
}

/**
 * Drops memories that were already outdated: of "I live in Paris" and "I moved to Berlin", only the second is saved. The journal has both.
 * `earlier`: memories already saved from this conversation, because an extraction reads all of it again.
 */
function withoutOutdated(drafts: readonly MemoryDraft[], earlier: readonly Memory[]): readonly MemoryDraft[] {
  const changes = [...earlier, ...drafts].filter(isChange)
  return drafts.filter(
    (draft) => isChange(draft) || !changes.some((change) => compareMemories(draft, change) === "outdated"),
  )
}

const isCurrentOf =
  ({ conversation }: SourceEvidence) =>
  (memory: Memory): boolean =>
    isCurrentMemory(memory) && memory.source.conversation === conversation

/** Whether a memory of the user already has the same content. */
const isKnown = ({ body }: Memory, memories: readonly Memory[]): boolean =>
  memories
    .filter((memory) => isCurrentMemory(memory) && isUserMemory(memory))
    .some(
      (memory) =>
        userWording(memory) === withoutRemarks(body) ||
        isComposedOf(withoutRemarks(body), parseStatements(userWording(memory))),
    )

/** Records a text as confirmed, because the user saw and accepted it. */
const asConfirmed = (draft: MemoryDraft): MemoryDraft =>
  draft.source && !isUserMemory({ source: draft.source })
    ? { ...draft, source: { ...draft.source, confirmed: true } }
    : draft

interface SaveCandidate {
  readonly file: string
  readonly text: string
  readonly draft: MemoryDraft
  readonly base: Proposal["base"]
}

async function isConfirmed(
  { file, text, draft, base }: SaveCandidate,
  keeping: SaveOptions,
  leftOut: string[],
): Promise<boolean> {
  if (keeping.mode !== "ask") return true
  if (!keeping.confirm) {
    leftOut.push(`${file} was not written: the setting memory is "ask", and there is no one to ask`)
    return false
  }
  const before = base.get(file) ?? undefined
  const question = keeping.confirm({ file, name: draft.name, before, after: text }).catch((error: unknown) => {
    leftOut.push(`${file} was not written: ${errorMessage(error)}`)
    return false
  })
  const answer = await unlessInterrupted(keeping.signal, question)
  keeping.signal.throwIfAborted() // without an answer it is proposed again another time
  const isYes = answer.state === "settled" && answer.value
  if (!isYes) keeping.refused?.push(withoutRemarks(draft.body))
  return isYes
}

const isSame = (a: Memory, b: Memory): boolean =>
  a.name === b.name &&
  a.description === b.description &&
  a.type === b.type &&
  a.body === b.body &&
  a.failed === b.failed &&
  String(a.supersedes ?? []) === String(b.supersedes ?? [])

const onlyOf = (base: Proposal["base"], saved: readonly MemoryDraft[]) =>
  new Map([...base].filter(([file]) => saved.some((draft) => draft.file === file)))

/** The message for the user and the telemetry counts. */
export function describeSave({ memories, omitted }: SaveResult): Pick<LayerResult, "message" | "counts"> {
  const sentences = [
    ...(memories.length > 0 ? [describeSaved(memories)] : []),
    ...(omitted.length > 0 ? [`Not remembered: ${omitted.join("; ")}.`] : []),
  ]
  return {
    ...(sentences.length > 0 ? { message: sentences.join(" ") } : {}),
    counts: { "memories.written": memories.length },
  }
}

function describeSaved(memories: readonly MemoryDraft[]): string {
  const names = memories.slice(0, NAMED).map(({ name }) => name)
  const more = memories.length - names.length
  return `Remembered: ${names.join("; ")}${more > 0 ? ` and ${more} more` : ""}.`
}
