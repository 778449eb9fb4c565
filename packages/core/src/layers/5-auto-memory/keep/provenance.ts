/**
 * Who said what a memory says: the person, a tool, or the agent by itself. The words decide, not what the model claims. A memory is the
 * person's only if it consists of sentences that they typed. Everything else is a note of the agent that no one has confirmed.
 */

import { termsOf } from "../../../base/terms.ts"
import { isPersons, type Memory, type Provenance } from "../../../memory/memory.ts"
import { isMadeOf, ownText, ruleIn, statementOf, statementsIn } from "../../../memory/own-words.ts"
import type { AttachmentKind } from "../../../messages/attachments.ts"
import { type Block, isToolResult, isToolUse, resultBlocks, textOf } from "../../../messages/blocks.ts"
import { inline } from "../../../messages/inline.ts"
import { contentOf, type Message } from "../../../messages/messages.ts"
import { factsAboutThePerson } from "../../../views/record/about-the-person.ts"
import { lastingRules } from "../../../views/record/lasting-rules.ts"
import { typedLines } from "../../../views/record/typed-text.ts"
import type { Word } from "../../../views/record/words.ts"

export interface Evidence {
  readonly conversation: string
  /** Everything the person said in the conversation. */
  readonly words: readonly SaidWord[]
  /** What came from outside and is in view. */
  readonly outside: readonly OutsideText[]
}

/** `conversation`: where it was said, if it was another one. */
export type SaidWord = Word & { readonly conversation?: string }

interface OutsideText {
  /** Such as `Read README.md`. */
  readonly from: string
  readonly text: string
}

/** The share of a memory's terms that make a source likely. A memory is shortened and rephrased, so it is far from all. */
const PERSON_SHARE = 0.4
const TOOL_SHARE = 0.5
const MOST_NAMED = 3 // places outside
const MOST_NAME_CHARACTERS = 60

/** `before`: the memory as it was. The person's sentences in it count like what they say now. */
export function sourceOf(memory: Memory, evidence: Evidence, before?: Memory): Provenance {
  const { conversation } = evidence
  const earlier = before && isPersons(before) ? before : undefined
  if (earlier && isUnchanged(memory, earlier)) return earlier.source
  const said = messageSaying(memory, evidence, earlier)
  if (said) return { saidBy: "user", conversation: said.conversation ?? conversation, message: said.uuid }
  const { isFromTool, outside } = outsideOf(memory, evidence, before)
  return { saidBy: isFromTool ? "tool" : "agent", conversation, ...(outside === "" ? {} : { outside }) }
}

/** The same sentences, none more and none less. */
function isUnchanged({ body }: Memory, earlier: Memory): boolean {
  const [now, had] = [earlier.source.message === undefined ? body : ruleIn(body), ownText(earlier)]
  return now === had || (isMadeOf(now, statementsIn(had)) && isMadeOf(had, statementsIn(now)))
}

/** The person's newest message that the rule needs, if all its sentences are the person's. */
function messageSaying({ body }: Memory, { words }: Evidence, earlier: Memory | undefined): SaidWord | undefined {
  let said = earlier ? statementsIn(ownText(earlier)) : []
  const rule = ruleIn(body)
  if (isMadeOf(rule, said)) return undefined // sentences of theirs went, and they said nothing
  for (const word of words.filter(isTyped)) {
    said = [...said, ...statementsIn(typedLines(word.text).join("\n")), ...clausesFor(word.text)]
    if (isMadeOf(rule, said)) return word
  }
  return undefined
}

/** A rule or a fact can stand before a question in the same sentence, or be asked for politely. */
const clausesFor = (text: string) => [...lastingRules(text), ...factsAboutThePerson(text)].map(statementOf)

/**
 * An answer can be one of the options that the agent wrote, and a tool can write what looks like a refusal. A message that is too long to
 * hold was pasted. A transcript is a file like any other.
 */
export const isTyped = ({ saidAt, isCut, isImported }: Word): boolean => saidAt === undefined && !isCut && !isImported

/** Which of the texts from outside the memory is closest to, and whether it only repeats one of them. */
function outsideOf(memory: Memory, { words, outside }: Evidence, before: Memory | undefined) {
  const own = new Set(before ? stemsOf(before) : [])
  const terms = [...stemsOf(memory)].filter((stem) => !own.has(stem))
  const share = (stems: ReadonlySet<string>) =>
    terms.length === 0 ? 0 : terms.filter((stem) => stems.has(stem)).length / terms.length
  const byPerson = share(new Set(words.flatMap(({ text }) => [...stemsIn(text)])))
  const shares = outside
    .map(({ from, text }) => ({ from, share: share(stemsIn(text)) }))
    .sort((a, b) => b.share - a.share)
  const byTools = shares[0]?.share ?? 0
  const isSaid = byPerson >= PERSON_SHARE && byPerson >= byTools
  const named = [...new Set(shares.map(({ from }) => inline(from).slice(0, MOST_NAME_CHARACTERS)))]
  const more = named.length - MOST_NAMED
  return {
    isFromTool: !isSaid && byTools >= TOOL_SHARE,
    outside: [...named.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(", "),
  }
}

/** Results of these tools bring nothing from outside: they say what the agent did, or what the person answered. */
const OWN: ReadonlySet<string> = new Set([
  "Write",
  "Edit",
  "NotebookEdit",
  "TodoWrite",
  "AskUser",
  "ExitPlanMode",
  "KillShell",
])

/** What came from outside in these messages: results of tools, attached files and the like. */
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
      if (!OWN.has(from.split(" ")[0]!)) found.push({ from, text })
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

/** Attachments that carry content which the person did not write. */
function attached(attachment: Extract<Message, { type: "attachment" }>["attachment"]): readonly OutsideText[] {
  const name = FROM[attachment.type]
  if (name === undefined) return []
  const { content, instructions, text, path, command } = attachment as Readonly<Record<string, unknown>>
  const about = [path, command].find((value) => typeof value === "string")
  const said = [content, instructions, text].find((value) => typeof value === "string") as string | undefined
  return said === undefined ? [] : [{ from: about === undefined ? name : `${name} ${about}`, text: said }]
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

/** The frame of a feedback memory is the same in all of them, and says nothing about its source. */
const FRAME = /\*\*(?:Why|How to apply):\*\*/gi

const stemsIn = (text: string): ReadonlySet<string> => new Set(termsOf(text).map(({ stem }) => stem))
